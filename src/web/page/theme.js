/** Sets the chosen colour scheme before the first paint. This is a classic script, because a browser may paint before it runs a module. */
try {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Some private windows forbid storage. The page then uses the colour scheme of the system.
}
