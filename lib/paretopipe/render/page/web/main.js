// Assembles the page, and redraws what a change of filter, window or colour scheme affects.

// One sentence for each shown group, and one over all networks of a family if all its groups are shown.
function conclusions(groups) {
  const families = report.families.filter(family => family.groups.every(place => groups.includes(report.groups[place])));
  return [...families.map(family => family.headline),
    ...groups.map(group => groups.length > 1 ? `${nameOf(group)}: ${group.headline}` : group.headline)];
}

function intervalNote() {
  if (report.predicted) return '';
  const least = Math.min(...passingGroups().map(group => group.repetitions));
  if (least < 2) return 'none, for a split that was measured once has no interval.';
  const covered = Math.min(...passingGroups().map(group => group.coverage_bound));
  return `95 % intervals of the median (bootstrap)` +
      (covered < 0.95 ? `; with ${least} repetitions no interval can cover more than ${formatShare(covered)}.` : '.');
}

function redraw() {
  drawFilters();
  const groups = passingGroups();
  byId('conclusion').replaceChildren(...conclusions(groups).map(sentence => element('span', {}, sentence)));
  byId('interval-note').textContent = intervalNote();
  for (const note of document.getElementsByClassName('detail-of')) note.textContent = groups.length > 1 ? nameOf(detailGroup()) : '';
  drawCharts();
  drawTable();
  drawNetworks();
  drawDisturbances();
}

function drawCharts() {
  drawFrontier();
  drawBreakdown();
  drawActivations();
  drawUtilisation();
  drawLoad();
}

// `choices`: [[text, value], …]
function select(label, choices, chosen, choose) {
  const options = choices.map(([text], index) => element('option', {value: index}, brief(String(text))));
  const made = element('select', {'data-filter': label}, ...options);
  made.selectedIndex = choices.findIndex(([, value]) => value === chosen);
  made.addEventListener('change', () => {
    choose(choices[made.selectedIndex][1]);
    redraw();
  });
  return element('label', {}, `${label} `, made);
}

function drawFilters() {
  const filters = FILTERS.map(({key, label, all}) => {
    const choices = distinct(key).map(value => [value, value]);
    if (all && choices.length > 1) choices.unshift(['all', null]);
    return select(label, choices, shown[key], value => filterBy(key, value));
  });
  const groups = passingGroups();
  if (groups.length > 1) {
    filters.push(select('Details of', groups.map(group => [nameOf(group), group]), detailGroup(), group => shown.group = group));
  }
  const focused = document.activeElement?.getAttribute('data-filter');
  byId('filters').replaceChildren(...filters);
  if (focused) byId('filters').querySelector(`[data-filter="${focused}"]`)?.focus();
}

function start() {
  document.documentElement.classList.toggle('of-predictions', report.predicted === true);
  document.title = `Where to cut ${distinct('model').map(brief).join(', ')}${report.predicted ? ' (predicted)' : ''}`;
  byId('title').textContent = document.title;
  shown.model = distinct('model')[0];
  for (const key of ['batch', 'depth', 'threads_per_stage', 'load']) shown[key] = distinct(key)[0];
  for (const key of ['network', 'micro_batch']) {
    if (distinct(key).length === 1) shown[key] = distinct(key)[0];
  }
  byId('filters').addEventListener('submit', event => event.preventDefault());
  byId('all-metrics').addEventListener('change', drawTable);
  startLoad();
  redraw();
  drawContext();
  drawCalibration();
  addEventListener('resize', () => {
    resizeCharts();
    drawFrontier();  // its labels go where there is room
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawCharts);
  addEventListener('beforeprint', () => printing(true));
  addEventListener('afterprint', () => printing(false));
}

let unfolded = [];  // opened to be printed

// Paper is light and narrower than a screen; folded content is shown on it.
function printing(now) {
  document.documentElement.classList.toggle('printing', now);
  if (now) unfolded = [...document.querySelectorAll('main details:not([open])')];
  for (const folded of unfolded) folded.open = now;
  resizeCharts();
  drawCharts();
}

start();
