// One objective against the other: a mark for every split, the frontier as a step line, intervals as whiskers.

// On the x axis less is better, whichever phases were measured.
const [X, Y] = isLessBetter(report.objectives[0]) ? report.objectives : [...report.objectives].reverse();
const OBJECTIVES = {latency_p50: 'median latency', throughput: 'throughput in image/s', payload: 'payload of a batch', step_time: 'time of a step',
  peak_memory: 'memory of the stage that needs most'};
const HOVERED = [...new Set([X, 'latency_p50', 'latency_p95', 'latency_p99', Y, 'throughput', 'loaded_latency_p50', 'compute', 'transfer', 'queue', 'codec',
  'payload', 'goodput', 'bottleneck_utilisation', 'peak_memory', 'max_abs_difference'])];

function isLessBetter(name) {
  return metricNamed.get(name).better === 'min';
}

function objectiveAxis(name, values, more) {
  const {unit} = metricNamed.get(name);
  return valueAxis(`${OBJECTIVES[name] ?? name} (${isLessBetter(name) ? 'less' : 'more'} is better)`, values, unit, more);
}

function comparedSplits(group) {
  return group.splits.filter(isCompared);
}

function place(split) {
  return [metricOf(split, X)[0], metricOf(split, Y)[0]];
}

// The border of the area that the frontier's splits dominate: from the worst y to the first split, and from the last
// one to the right.
function stepLine(splits, bounds) {
  let best = 0;  // the largest distance from the worst y: a split that a third objective keeps may be worse in both drawn
  const members = splits.filter(split => split.on_frontier).map(place).sort((a, b) => a[0] - b[0] || a[1] - b[1])
      .filter(([, y]) => Math.abs(y - bounds.worst) > best && (best = Math.abs(y - bounds.worst)));
  if (members.length === 0) return [];
  return [[members[0][0], bounds.worst], ...members, [bounds.right, members[members.length - 1][1]]];
}

// All whiskers as one line, with gaps between them.
function whiskers(splits) {
  return splits.flatMap(split => {
    const x = metricOf(split, X), y = metricOf(split, Y), gap = ['-', '-'];
    return [...(x.length > 2 ? [[x[1], y[0]], [x[2], y[0]], gap] : []), ...(y.length > 2 ? [[x[0], y[1]], [x[0], y[2]], gap] : [])];
  });
}

// The library makes deep copies of its input, so a mark only says where to find its split.
function marks(group, isShown) {
  return group.splits.flatMap((split, index) =>
      isCompared(split) && isShown(split) ? [{value: place(split), group: report.groups.indexOf(group), split: index}] : []);
}

function splitOf(mark) {
  const group = report.groups[mark.group];
  return {group, split: group.splits[mark.split]};
}

function seriesOf(group, index, bounds) {
  const colours = theme();
  const colour = colours.series[index % colours.series.length];
  const symbol = colours.symbols[index % colours.symbols.length];
  const splits = comparedSplits(group);
  const common = {name: nameOf(group), itemStyle: {color: colour}, clip: true};
  const quiet = {...common, type: 'line', symbol: 'none', silent: true, tooltip: {show: false}};
  return [
    {...quiet, data: stepLine(splits, bounds), step: 'end', lineStyle: {color: colour, width: 2}, z: 2},
    {...quiet, data: whiskers(splits), connectNulls: false, lineStyle: {color: colour, width: 1, opacity: splits.length > 60 ? 0.25 : 0.7}, z: 1},
    {...common, type: 'scatter', symbol, symbolSize: 9, z: 3, data: marks(group, split => !split.on_frontier),
      itemStyle: {color: colours.page, borderColor: colour, borderWidth: 1.5}},
    {...common, type: 'scatter', symbol, symbolSize: 12, z: 4, data: marks(group, split => split.on_frontier),
      // No split lies above and to the left of one on the frontier.
      label: {show: false, position: 'left', offset: [4, -8], color: colours.text, formatter: ({data}) => splitOf(data).split.split}},
  ];
}

function hoveredSplit(mark) {
  const {group, split} = splitOf(mark);
  const rows = HOVERED.filter(name => metricOf(split, name)).map(name => [name, formatWithInterval(split, name)]);
  rows.push(['frontier', standing(split)]);
  if (!report.predicted) rows.push(['probability of being on it', certainty(split)], ['repetitions', repetitions(split)]);
  return hoverCard(`Split ${split.label} · ${nameOf(group)}`, rows);
}

// Labels the frontier's splits as far as there is room, those with large x first.
function labelFrontier(chart, series) {
  const taken = [];
  for (const [index, one] of series.entries()) {
    if (!one.label) continue;
    for (const mark of [...one.data].reverse()) {
      const [x, y] = chart.convertToPixel({seriesIndex: index}, mark.value);
      const room = 8 + 4 * splitOf(mark).split.split.length;
      if (taken.some(other => Math.abs(other.x - x) < other.room + room && Math.abs(other.y - y) < 16)) continue;
      taken.push({x, y, room});
      mark.label = {show: true};
    }
  }
  chart.setOption({series});
}

function drawFrontier() {
  const groups = passingGroups();
  const splits = groups.flatMap(comparedSplits);
  const every = name => splits.flatMap(split => metricOf(split, name));
  const xs = every(X), ys = every(Y);
  const x = objectiveAxis(X, xs);
  const y = objectiveAxis(Y, ys, {nameGap: metricNamed.get(Y).unit === 'image/s' ? 40 : 60});
  const bounds = {right: x.max, worst: isLessBetter(Y) ? y.max : y.min};
  const series = groups.flatMap((group, index) => seriesOf(group, index, bounds));
  const names = groups.map(nameOf);
  const label = `Scatter plot of ${X} and ${Y} of ${splits.length} splits, with the frontier.`;
  const chart = draw('frontier-chart', label, {
    legend: groups.length > 1 ? legend(names) : {show: false},
    tooltip: {trigger: 'item', formatter: ({data}) => hoveredSplit(data)},
    grid: {top: groups.length > 1 ? 40 : 16},
    xAxis: x, yAxis: y, series,
  });
  labelFrontier(chart, series);
}
