// The page makes all its content here, as elements with text: nothing in a record is ever read as HTML.

// element('td', {class: 'number'}, 'text', anotherElement, …). Attributes that are null are left out.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(key, value);
  }
  made.append(...children.filter(child => child !== null && child !== ''));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

// Names may be as long as a synthetic model's. The middle of a name that is too long is left out.
function brief(text) {
  return text.length <= 80 ? text : `${text.slice(0, 60)} … ${text.slice(-16)}`;
}

// The content of a <table>. The first cell of a row names the row. From column `numbersFrom` on, cells are numbers.
function tableContent(headings, rows, numbersFrom = headings.length) {
  const kind = column => column < numbersFrom ? null : 'number';
  const cell = (text, column) => column === 0 ? element('th', {scope: 'row'}, text) : element('td', {class: kind(column)}, text);
  return [
    element('thead', {}, element('tr', {}, ...headings.map((heading, column) => element('th', {scope: 'col', class: kind(column)}, heading)))),
    element('tbody', {}, ...rows.map(row => element('tr', {}, ...row.map(cell)))),
  ];
}

// A table that scrolls by itself if it is too large. `label` names it for readers who cannot see it.
function scrollingTable(label, attributes, ...content) {
  return element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label}, element('table', attributes, ...content));
}

// [[term, text or element], …] as the content of a <dl>.
function definitions(pairs) {
  return pairs.flatMap(([term, meaning]) => [element('dt', {}, term), element('dd', {}, meaning)]);
}

// The text shown on hovering: a heading, and rows of name and value with their colour, if they have one.
function hoverCard(heading, rows) {
  const cells = rows.map(([name, value, colour = null]) => {
    const mark = element('span', {class: 'swatch'});
    if (colour) mark.style.background = colour;
    return element('tr', {}, element('th', {}, colour ? mark : null, name), element('td', {}, value));
  });
  return element('div', {class: 'card'}, element('strong', {}, heading), element('table', {}, ...cells));
}
