// What the pages need besides htmx: keys, filters, following without disturbing, and words when nobody answers.
'use strict';
(() => {
  const box = document.getElementById('q');
  const results = document.getElementById('results');
  const trouble = document.getElementById('trouble');
  const said = document.getElementById('said');
  const live = document.getElementById('live');

  // ---- keys: / the box, arrows walk the results, Enter opens (they are links), Escape goes back

  const links = () => (results ? [...results.querySelectorAll('.hit-link')] : []);

  function toBox() {
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
    window.scrollTo({ top: 0 });
  }

  if (box && document.activeElement === box) box.setSelectionRange(box.value.length, box.value.length);

  function toLink(link) {
    link.focus({ preventScroll: true });
    link.closest('article').scrollIntoView({ block: 'nearest' });
  }

  function walk(key, at) {
    const all = links();
    if (all.length === 0) return false;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[key];
    if (to < 0) {
      toBox();
    } else {
      toLink(all[Math.min(to, all.length - 1)]);
    }
    return true;
  }

  // a key without Ctrl or Alt gets in the way of who speaks to the browser: it can be switched off, for good

  const slash = document.getElementById('slash');
  let hasSlash = true;
  try {
    hasSlash = window.localStorage.getItem('slash') !== 'off';
  } catch { /* nothing may be kept here: it is on until somebody says otherwise */ }
  slash?.setAttribute('aria-pressed', String(hasSlash));
  slash?.addEventListener('click', () => {
    hasSlash = !hasSlash;
    slash.setAttribute('aria-pressed', String(hasSlash));
    try {
      window.localStorage.setItem('slash', hasSlash ? 'on' : 'off');
    } catch { /* then only this page knows */ }
  });

  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const at = event.target;
    const isText = at.matches('input, textarea, select, [contenteditable]');
    if (event.key === '/' && hasSlash && !isText) {
      event.preventDefault();
      if (box) toBox();
      else window.location.assign('/');
    }
    if (!box) return;
    const article = at.closest('.hit article');
    if (event.key === 'Escape' && at !== box && results.contains(at)) {
      event.preventDefault();
      toBox();
    } else if (event.key === 'ArrowDown' && (at === box || at === document.body)) {
      if (walk('ArrowDown', -1)) event.preventDefault();
    } else if (article && ['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) {
      const all = links();
      if (walk(event.key, all.indexOf(article.querySelector('.hit-link')))) event.preventDefault();
    }
  });

  // ---- filters: a button is another query; the box shows it, and asks

  document.addEventListener('click', (event) => {
    const button = event.target.closest('button[name="q"]');
    if (!button || !box) return;
    event.preventDefault();
    box.value = button.value;
    window.htmx.trigger('#search', 'submit');
  });

  // ---- history: what was finished, by Enter, a filter or a link, keeps its entry; typing replaces typing alone

  const shown = () => new URLSearchParams(window.location.search).getAll('q').at(-1) ?? '';
  let finished = shown();
  // an address holds 64 kB; the words of a pasted page that count are among its first
  const LONGEST = 60_000;
  function fitting(text) {
    let end = text.length;
    while (encodeURIComponent(text.slice(0, end).toWellFormed()).length > LONGEST) end = Math.floor(end / 2);
    return text.slice(0, end);
  }

  document.addEventListener('htmx:configRequest', ({ detail }) => {
    if (detail.parameters.has?.('q')) detail.parameters.set('q', fitting(detail.parameters.get('q')));
    if (detail.elt === box && shown() === finished) detail.path = '/search?unfinished=new';
    if (detail.elt.id === 'search') finished = box.value;
  });

  // whoever comes back from a thread stands where they left

  document.addEventListener('click', (event) => {
    const link = event.target.closest('.hit-link');
    if (link) window.history.replaceState({ ...window.history.state, chosen: link.id }, '');
  });
  const chosen = links().find((link) => link.id === window.history.state?.chosen);
  if (chosen) toLink(chosen);

  // ---- a comment's address, as at GitHub: the server knows which page has it, but never sees what stands behind the #

  function findComment() {
    const name = window.location.hash.slice(1);
    const isAsked = new URLSearchParams(window.location.search).get('at') === name;
    if (!document.getElementById('thread') || isAsked || !/^[\w-]+$/.test(name) || document.getElementById(name)) return;
    window.location.replace(`?at=${name}#${name}`);
  }
  window.addEventListener('hashchange', findComment);
  findComment();

  // ---- following: what is the same is left alone, and so is what somebody marks with the mouse

  const plain = (markup) => markup.replaceAll(' class=""', '').replaceAll(' open=""', '').trim();

  function isSame(target, markup) {
    const held = document.createElement('template');
    held.innerHTML = markup;
    return plain(held.innerHTML) === plain(target.innerHTML);
  }

  function isMarked(target) {
    const marked = document.getSelection();
    return marked && !marked.isCollapsed && marked.containsNode(target, true);
  }

  let waiting = null;
  document.addEventListener('selectionchange', () => {
    if (waiting && !isMarked(waiting)) {
      const target = waiting;
      waiting = null;
      window.htmx.trigger(target, 'sse:changed');
    }
  });

  const isLive = (detail) => (detail.pathInfo?.requestPath ?? '').includes('live=true');

  // a reader has opened or closed them: they stay so, as long as the same one is at the same place of the same comment
  const folds = (target) => new Map([...target.querySelectorAll('details')].map((fold) => {
    const home = fold.closest('[id]');
    const place = [...home.querySelectorAll('details')].indexOf(fold);
    return [`${home.id} ${place} ${fold.querySelector('summary')?.textContent}`, fold];
  }));
  let folded = new Map();

  let stood = null;
  document.addEventListener('htmx:beforeSwap', (event) => {
    const { detail } = event;
    stood = document.activeElement;
    folded = new Map([...folds(detail.target)].map(([name, fold]) => [name, fold.open]));
    if (detail.isError) return;
    trouble.replaceChildren();
    if (!isLive(detail)) return;
    if (isMarked(detail.target)) {
      waiting = detail.target;
      detail.shouldSwap = false;
    } else if (isSame(detail.target, detail.serverResponse)) {
      detail.shouldSwap = false;
    }
  });

  document.addEventListener('htmx:afterSwap', (event) => {
    for (const [name, fold] of folds(event.detail.target)) fold.open = folded.get(name) ?? fold.open;
    if (event.detail.target !== results) return;
    if (!isLive(event.detail)) {
      document.title = box.value.trim() ? `${box.value.trim()} · highwater` : 'highwater';
      said.textContent = document.getElementById('count')?.textContent ?? '';
    }
    // whoever stood on something that is gone goes on from the box
    if (stood && !stood.isConnected && document.activeElement === document.body) box.focus({ preventScroll: true });
  });

  // ---- nobody answers

  const unreachable = document.getElementById('unreachable');
  for (const name of ['htmx:sendError', 'htmx:timeout']) {
    document.addEventListener(name, () => trouble.replaceChildren(unreachable.content.cloneNode(true)));
  }

  // ---- the stream: closed while nobody looks, because a browser has only six for all its pages

  let source = null;
  function show(state, word) {
    if (!live) return;
    live.dataset.state = state;
    document.getElementById('live-word').textContent = word;
  }
  window.htmx.createEventSource = (url) => {
    source = new EventSource(url);
    return source;
  };
  document.addEventListener('htmx:sseOpen', () => {
    show('on', 'live');
    trouble.replaceChildren();
  });
  document.addEventListener('htmx:sseError', () => show('off', 'not connected'));
  function look() {
    if (!source) return;
    if (document.hidden) source.close();
    // the extension takes this for a lost connection, and makes a new one
    else if (source.readyState === EventSource.CLOSED && source.onerror) source.onerror(new Event('error'));
  }
  document.addEventListener('visibilitychange', look);
  window.addEventListener('pageshow', look);
  window.addEventListener('pagehide', () => source?.close());
})();
