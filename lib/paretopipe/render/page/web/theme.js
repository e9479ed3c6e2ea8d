// Colours come from page.css: one source for light, dark and print.

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// While the page is printed (main.js).
function onPaper() {
  return document.documentElement.classList.contains('printing');
}

function theme() {
  return {
    font: getComputedStyle(document.body).fontFamily,
    text: cssColour('text'),
    muted: cssColour('muted'),
    line: cssColour('line'),
    page: cssColour('page'),
    series: Array.from({length: 8}, (_, i) => cssColour(`series-${i + 1}`)),
    symbols: ['circle', 'triangle', 'diamond', 'rect', 'pin', 'arrow', 'roundRect', 'emptyCircle'],
  };
}
