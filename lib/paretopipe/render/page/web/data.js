// The data of the records, and which part of it is shown.

const report = JSON.parse(byId('data').textContent);
const metricNamed = new Map(report.metrics.map(metric => [metric.name, metric]));

// Groups are named by the filters in which the passing groups differ. A number is shown with its word.
const FILTERS = [
  {key: 'model', label: 'Model', all: false},
  {key: 'network', label: 'Network', all: true},
  {key: 'batch', label: 'Batch', all: true, word: 'batch'},
];
// Without cut batches, the batch size is enough.
if (report.groups.some(isCut)) FILTERS.push({key: 'micro_batch', label: 'Micro-batch', all: true, word: 'micro-batch'});
// Most sweeps have only one value of each, which needs no filter.
for (const [key, label, word] of [['depth', 'Depth', 'depth'], ['threads_per_stage', 'Threads', 'threads'], ['load', 'Load', '']]) {
  if (distinct(key).length > 1) FILTERS.push({key, label, all: true, word});
}

// A filter that is null passes everything.
const shown = {model: null, network: null, batch: null, micro_batch: null, depth: null, threads_per_stage: null, load: null, group: null,
  statistic: null};

function isCut(group) {
  return group.micro_batch !== group.batch;
}

function distinct(key) {
  return [...new Set(report.groups.map(group => group[key]))];
}

function passingGroups() {
  return report.groups.filter(group => FILTERS.every(({key}) => shown[key] === null || group[key] === shown[key]));
}

// If the other filters leave nothing of the choice, they give way: the first group that has the chosen value is shown.
function filterBy(key, value) {
  shown[key] = value;
  if (passingGroups().length > 0) return;
  const nearest = report.groups.find(group => group[key] === value);
  for (const filter of FILTERS) {
    if (shown[filter.key] !== null) shown[filter.key] = nearest[filter.key];
  }
}

// The group whose details are shown: the chosen one if it passes the filters, else the first that does.
function detailGroup() {
  const groups = passingGroups();
  return groups.includes(shown.group) ? shown.group : groups[0];
}

// The shortest name that tells the passing groups apart: by filters, and by other settings where filters do not.
function nameOf(group) {
  const groups = passingGroups();
  const differing = FILTERS.filter(({key}) => new Set(groups.map(other => other[key])).size > 1);
  const name = differing.map(({key, word}) => word ? `${word} ${group[key]}` : brief(group[key])).join(', ');
  const same = groups.filter(other => differing.every(({key}) => other[key] === group[key]));
  if (same.length === 1) return name || brief(group.title);
  const settings = group.settings.filter(({value}, place) => same.some(other => other.settings[place].value !== value));
  const parts = [name, ...settings.map(setting => brief(`${setting.name} ${setting.value || 'none'}`))].filter(part => part !== '');
  return parts.join(', ') || brief(group.title);
}

// [median] or [median, low, high]; undefined if the split has no such number.
function metricOf(split, name) {
  return split.metrics[name];
}

// "12.3 [12.1, 12.6] ms", or "–" for none. An end that JSON has no number for is infinite.
function formatNumbers(value, unit) {
  if (!value) return '–';
  if (value.length < 3) return formatValue(value[0], unit);
  const scale = scaleFor(value[0], unit);
  const [median, low, high] = value.map(one => one === null ? '∞' : threeDigits(one / scale.step));
  return `${median} [${low}, ${high}] ${scale.name}`.trim();
}

function formatWithInterval(split, name) {
  return formatNumbers(metricOf(split, name), metricNamed.get(name).unit);
}

function formatPredicted(split, name) {
  return formatNumbers(split.predicted?.[name], metricNamed.get(name).unit);
}

function isCompared(split) {
  return split.on_frontier !== undefined;
}

function standing(split) {
  if (split.on_frontier) return 'yes';
  if (split.dominated_by !== undefined) return `beaten by ${split.dominated_by}`;
  if (split.baseline && split.ok > 0) return 'baseline';
  return split.ok > 0 ? 'not compared' : '–';
}

// The share of resamples in which the split is on the frontier.
function certainty(split) {
  return split.frontier_probability === undefined ? '–' : formatShare(split.frontier_probability);
}

function repetitions(split) {
  return ['ok', 'failed', 'invalid'].filter(status => split[status] > 0)
      .map(status => `${split[status]} ${status}`).join(', ');
}
