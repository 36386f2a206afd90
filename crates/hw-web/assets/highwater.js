// What htmx does not provide: keyboard navigation, filters, updates that do not disturb the reader, and error messages.
'use strict';
(() => {
  const box = document.getElementById('q');
  const results = document.getElementById('results');
  const trouble = document.getElementById('trouble');
  const announcement = document.getElementById('announcement');
  const live = document.getElementById('live');

  // ---- keys: / focuses the box, arrows select a result, Enter opens it (they are links), Escape returns to the box

  const links = () => (results ? [...results.querySelectorAll('.hit-link')] : []);

  function focusBox() {
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
    window.scrollTo({ top: 0 });
  }

  // browsers obey `autofocus` only when they first draw the page: what is typed before would be lost
  if (box?.autofocus && document.activeElement === document.body) box.focus({ preventScroll: true });
  if (box && document.activeElement === box) box.setSelectionRange(box.value.length, box.value.length);

  function focusLink(link) {
    link.focus({ preventScroll: true });
    link.closest('article').scrollIntoView({ block: 'nearest' });
  }

  function selectResult(key, at) {
    const all = links();
    if (all.length === 0) return false;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[key];
    if (to < 0) {
      focusBox();
    } else {
      focusLink(all[Math.min(to, all.length - 1)]);
    }
    return true;
  }

  // a shortcut without a modifier interferes with voice control, so users can turn it off permanently

  const slash = document.getElementById('slash');
  let hasSlash = true;
  try {
    hasSlash = window.localStorage.getItem('slash') !== 'off';
  } catch { /* storage is not available: the shortcut is on by default */ }
  slash?.setAttribute('aria-pressed', String(hasSlash));
  slash?.addEventListener('click', () => {
    hasSlash = !hasSlash;
    slash.setAttribute('aria-pressed', String(hasSlash));
    try {
      window.localStorage.setItem('slash', hasSlash ? 'on' : 'off');
    } catch { /* the setting applies to this page only */ }
  });

  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const at = event.target;
    const isText = at.matches('input, textarea, select, [contenteditable]');
    if (event.key === '/' && hasSlash && !isText) {
      event.preventDefault();
      if (box) focusBox();
      else window.location.assign('/');
    }
    if (!box) return;
    const article = at.closest('.hit article');
    if (event.key === 'Escape' && at !== box && results.contains(at)) {
      event.preventDefault();
      focusBox();
    } else if (event.key === 'ArrowDown' && (at === box || at === document.body)) {
      if (selectResult('ArrowDown', -1)) event.preventDefault();
    } else if (article && ['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) {
      const all = links();
      if (selectResult(event.key, all.indexOf(article.querySelector('.hit-link')))) event.preventDefault();
    }
  });

  // ---- filters: a button holds another query, which replaces the one in the box

  document.addEventListener('click', (event) => {
    const button = event.target.closest('button[name="q"]');
    if (!button || !box) return;
    event.preventDefault();
    box.value = button.value;
    window.htmx.trigger('#search', 'submit');
  });

  // ---- history: a query that was finished (by Enter, a filter or a link) keeps its entry; typing replaces unfinished ones

  const queryOfUrl = () => new URLSearchParams(window.location.search).getAll('q').at(-1) ?? '';
  let finished = queryOfUrl();
  // a URL is limited to 64 kB; for a longer paste, its beginning is enough
  const MAX_QUERY = 60_000;
  function truncated(text) {
    let end = text.length;
    while (encodeURIComponent(text.slice(0, end).toWellFormed()).length > MAX_QUERY) end = Math.floor(end / 2);
    return text.slice(0, end);
  }

  document.addEventListener('htmx:configRequest', ({ detail }) => {
    if (detail.parameters.has?.('q')) detail.parameters.set('q', truncated(detail.parameters.get('q')));
    if (detail.elt === box && queryOfUrl() === finished) detail.path = '/search?unfinished=new';
    if (detail.elt.id === 'search') finished = box.value;
  });

  // returning from a thread restores the focus to its result

  document.addEventListener('click', (event) => {
    const link = event.target.closest('.hit-link');
    if (link) window.history.replaceState({ ...window.history.state, chosen: link.id }, '');
  });
  const chosen = links().find((link) => link.id === window.history.state?.chosen);
  if (chosen) focusLink(chosen);

  // ---- a comment's URL, as on GitHub: the server knows which page has the comment, but never receives the fragment

  function findComment() {
    const name = window.location.hash.slice(1);
    const isRequested = new URLSearchParams(window.location.search).get('at') === name;
    if (!document.getElementById('thread') || isRequested || !/^[\w-]+$/.test(name) || document.getElementById(name)) return;
    window.location.replace(`?at=${name}#${name}`);
  }
  window.addEventListener('hashchange', findComment);
  findComment();

  // ---- live updates: unchanged content is left alone, and so is text that the reader has selected

  const normalized = (markup) => markup.replaceAll(' class=""', '').replaceAll(' open=""', '').trim();

  function isSame(target, markup) {
    const parsed = document.createElement('template');
    parsed.innerHTML = markup;
    return normalized(parsed.innerHTML) === normalized(target.innerHTML);
  }

  function isSelected(target) {
    const selection = document.getSelection();
    return selection && !selection.isCollapsed && selection.containsNode(target, true);
  }

  let waiting = null;
  document.addEventListener('selectionchange', () => {
    if (waiting && !isSelected(waiting)) {
      const target = waiting;
      waiting = null;
      window.htmx.trigger(target, 'sse:changed');
    }
  });

  const isLive = (detail) => (detail.pathInfo?.requestPath ?? '').includes('live=true');

  // updates keep the folds that the reader has opened or closed, if the same one is at the same position of the same comment
  const folds = (target) => new Map([...target.querySelectorAll('details')].map((fold) => {
    const home = fold.closest('[id]');
    const index = [...home.querySelectorAll('details')].indexOf(fold);
    return [`${home.id} ${index} ${fold.querySelector('summary')?.textContent}`, fold];
  }));
  let folded = new Map();

  let focusedBefore = null;
  document.addEventListener('htmx:beforeSwap', (event) => {
    const { detail } = event;
    focusedBefore = document.activeElement;
    folded = new Map([...folds(detail.target)].map(([name, fold]) => [name, fold.open]));
    if (detail.isError) return;
    trouble.replaceChildren();
    if (!isLive(detail)) return;
    if (isSelected(detail.target)) {
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
      announcement.textContent = document.getElementById('count')?.textContent ?? '';
    }
    // if the focused element is gone, the focus moves to the box
    if (focusedBefore && !focusedBefore.isConnected && document.activeElement === document.body) box.focus({ preventScroll: true });
  });

  // ---- the server is not responding

  const unreachable = document.getElementById('unreachable');
  for (const name of ['htmx:sendError', 'htmx:timeout']) {
    document.addEventListener(name, () => trouble.replaceChildren(unreachable.content.cloneNode(true)));
  }

  // ---- event stream: closed while the page is hidden, because a browser allows only six connections per host

  let source = null;
  function showLiveState(state, word) {
    if (!live) return;
    live.dataset.state = state;
    document.getElementById('live-word').textContent = word;
  }
  window.htmx.createEventSource = (url) => {
    source = new EventSource(url);
    return source;
  };
  document.addEventListener('htmx:sseOpen', () => {
    showLiveState('on', 'live');
    trouble.replaceChildren();
  });
  document.addEventListener('htmx:sseError', () => showLiveState('off', 'not connected'));
  function updateStream() {
    if (!source) return;
    if (document.hidden) source.close();
    // the extension treats this as a lost connection, and reconnects
    else if (source.readyState === EventSource.CLOSED && source.onerror) source.onerror(new Event('error'));
  }
  document.addEventListener('visibilitychange', updateStream);
  window.addEventListener('pageshow', updateStream);
  window.addEventListener('pagehide', () => source?.close());
})();
