// Names for what the package that draws the reference leaves without one, whenever it has drawn something new.

function nameAll() {
  for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy');
  // Who says to a computer what to press says what is seen.
  for (const button of document.querySelectorAll('.show-more[aria-label]')) {
    const [seen, name] = [button.textContent.trim(), button.getAttribute('aria-label')];
    if (seen !== '' && !name.startsWith(seen)) button.setAttribute('aria-label', `${seen}: ${name}`);
  }
}

let isDue = false;
new MutationObserver(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    nameAll();
  });
}).observe(document.documentElement, {
  ...{ childList: true, subtree: true, characterData: true },
  attributeFilter: ['aria-label'],
});
