// All numbers of the splits that pass the filters.

const MAIN_METRICS = ['step_time', 'training_throughput', 'bubble', 'latency_p50', 'latency_p95', 'throughput', 'compute', 'transfer', 'queue', 'payload', 'goodput',
  'bottleneck_utilisation', 'peak_memory'];

// Throughput relative to that of a baseline.
const SPEED_UPS = [
  {key: 'speed_up_single', heading: 'x single', title: "Times the whole model's throughput on one device (all local)"},
  {key: 'speed_up_sequential', heading: 'x sequential', title: 'Times the throughput of the same stages with one batch in flight'},
  {key: 'speed_up_data_parallel', heading: 'x data-parallel', title: "Times the whole model's throughput on as many devices, batches dealt out in turn"},
];

// What a profile predicted, if one was given.
const PREDICTED = ['latency_p50', 'throughput'];

function predictedColumns(groups) {
  if (!groups.some(group => group.splits.some(split => split.predicted))) return [];
  return [...PREDICTED.map(name => ({
    heading: `${name}, predicted`, title: `${metricNamed.get(name).meaning}: predicted from a profile, with its band`, numeric: true,
    text: ({split}) => formatPredicted(split, name), key: ({split}) => split.predicted?.[name][0],
  })), {heading: 'prediction missed', title: 'What the model of the pipeline missed most, where it is off by more than 2 %',
        text: ({split}) => split.predicted?.missed || '–', key: ({split}) => split.predicted?.missed || undefined}];
}

// Only on a page of predictions.
const boundColumn = {heading: 'bound by', title: 'What bounds the throughput', text: ({split}) => split.bound_by, key: ({split}) => split.bound_by};

// The metrics of these that any split has: a training has no latency.
function presentNames(groups, names) {
  return names.filter(name => groups.some(group => group.splits.some(split => metricOf(split, name))));
}

const sorting = {column: null, descending: false};

// {heading, title, text(row), key(row), numeric}; rows without a key come last.
function columns(groups) {
  const all = byId('all-metrics').checked;
  const names = all && !report.predicted ? [...metricNamed.keys()] : presentNames(groups, all ? [...metricNamed.keys()] : MAIN_METRICS);
  const metric = name => ({
    heading: name, title: metricNamed.get(name).meaning, numeric: true,
    text: ({split}) => formatWithInterval(split, name), key: ({split}) => metricOf(split, name)?.[0],
  });
  const splitColumn = {heading: 'split', title: 'Blocks on stage 0 / all blocks', text: ({split}) => split.label, key: ({place}) => place};
  if (report.predicted) return [splitColumn, ...names.map(metric), boundColumn];
  return [
    splitColumn,
    ...(groups.length > 1 ? [{heading: 'of', title: 'What the split was measured under', text: ({group}) => nameOf(group), key: ({group}) => nameOf(group)}] : []),
    {heading: 'frontier', title: 'Whether no other split beats this one', text: ({split}) => standing(split), key: ({split}) => standing(split)},
    {heading: 'probability', title: 'Of being on the frontier: the share of resamples in which the split is', text: ({split}) => certainty(split),
      key: ({split}) => split.frontier_probability, numeric: true},
    ...names.map(metric),
    ...predictedColumns(groups),
    ...SPEED_UPS.map(({key, heading, title}) => ({heading, title, numeric: true,
      text: ({split}) => split[key] === undefined ? '–' : threeDigits(split[key]), key: ({split}) => split[key]})),
    {heading: 'repetitions', title: 'How often it was measured', text: ({split}) => repetitions(split), key: ({split}) => split.ok, numeric: true},
  ];
}

function sortedRows(groups, column) {
  const rows = groups.flatMap(group => group.splits.map((split, place) => ({group, split, place})));
  if (!column) return rows;
  const compare = (a, b) => {
    const left = column.key(a), right = column.key(b);
    if (left === undefined || right === undefined) return (left === undefined) - (right === undefined);
    return (left < right ? -1 : left > right ? 1 : 0) * (sorting.descending ? -1 : 1);
  };
  return rows.sort(compare);
}

function sortBy(heading) {
  sorting.descending = sorting.column === heading && !sorting.descending;
  sorting.column = heading;
  drawTable();
  [...byId('splits').querySelectorAll('thead button')].find(button => button.textContent === heading)?.focus();
}

function headingCell({heading, title, numeric}) {
  const sorted = sorting.column === heading ? (sorting.descending ? 'descending' : 'ascending') : null;
  const button = element('button', {type: 'button', title}, heading);
  button.addEventListener('click', () => sortBy(heading));
  return element('th', {scope: 'col', 'aria-sort': sorted, class: numeric ? 'number' : null}, button);
}

function tableRow(row, shownColumns) {
  const [first, ...rest] = shownColumns;
  return element('tr', {class: row.split.on_frontier ? 'frontier' : null}, element('th', {scope: 'row'}, first.text(row)),
                 ...rest.map(column => element('td', {class: column.numeric ? 'number' : null}, column.text(row))));
}

function drawTable() {
  const groups = passingGroups();
  const shownColumns = columns(groups);
  const rows = sortedRows(groups, shownColumns.find(column => column.heading === sorting.column));
  byId('splits').replaceChildren(
      element('thead', {}, element('tr', {}, ...shownColumns.map(headingCell))),
      element('tbody', {}, ...rows.map(row => tableRow(row, shownColumns))));
  const reasons = groups.flatMap(group => group.splits.flatMap(
      split => split.reasons.map(reason => `${split.baseline ? '' : 'Split '}${split.label} · ${nameOf(group)}: ${reason}`)));
  byId('reasons').replaceChildren(...reasons.map(reason => element('li', {}, reason)));
}
