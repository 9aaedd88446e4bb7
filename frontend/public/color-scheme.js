// Sets the colour scheme before the first paint. Reads the key Mantine writes; does nothing else.
// Kept outside the bundle and outside index.html because the content security policy forbids inline scripts.
(function () {
  var stored = null;
  try {
    stored = window.localStorage.getItem('mantine-color-scheme-value');
  } catch {
    // Storage may be refused; the system's preference decides then.
    stored = null;
  }
  var scheme = stored === 'light' || stored === 'dark' ? stored : 'auto';
  var dark =
    scheme === 'dark' ||
    (scheme === 'auto' &&
      window.matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute(
    'data-mantine-color-scheme',
    dark ? 'dark' : 'light',
  );
})();
