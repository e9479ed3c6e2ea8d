// The data sheet of the instrument, if the page has one.

function drawCalibration() {
  const sheet = report.calibration;
  byId('calibration-section').hidden = sheet === undefined;
  if (sheet === undefined) return;
  const {verdict, kept, doubts, preamble, remarks, summary, cells} = sheet;
  const table = (label, {headings, left_columns, rows}) => scrollingTable(label, {}, ...tableContent(headings, rows, left_columns));
  const paragraphs = (sentences, kind) => sentences.map(sentence => element('p', {class: kind}, sentence));
  byId('calibration').replaceChildren(
      ...paragraphs([verdict], kept ? 'verdict' : 'verdict missed'), ...paragraphs(doubts, 'warning'),
      ...paragraphs([...preamble, ...remarks], 'note'), table('Errors over all cells', summary),
      element('details', {}, element('summary', {}, 'Error of every cell'), table('Error of every cell', cells)));
}
