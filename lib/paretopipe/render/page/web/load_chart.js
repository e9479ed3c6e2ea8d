// Latency against load: a line for each split, a mark for each rate. Hidden if no load was measured.

const STATISTICS = ['mean', 'p50', 'p90', 'p95', 'p99', 'max'];

function loadFamily() {
  const place = report.groups.indexOf(detailGroup());
  return report.loads.find(({groups}) => groups.includes(place));
}

// The reader's choice, or else the statistic that a search had to bound.
function loadStatistic({bounds}) {
  return shown.statistic ?? bounds[0]?.statistic ?? 'p99';
}

function hoveredLoad({curve, point}) {
  return hoverCard(`Split ${curve.label}`, [
    ['rate', formatValue(point.rate, 'image/s')], ['achieved', formatValue(point.achieved, 'image/s')],
    ...STATISTICS.map(name => [`latency ${name}`, formatValue(point[name], 'ns')]),
    ['saturated', point.saturated ? 'yes' : 'no'], ['repetitions', String(point.repetitions)],
  ]);
}

function loadSeries(curve, index, statistic) {
  const {series: colours, symbols, page} = theme();
  const colour = colours[index % colours.length], round = Math.floor(index / colours.length);
  return {
    name: `split ${curve.split}`, type: 'line', symbol: symbols[(index + round) % symbols.length], itemStyle: {color: colour},
    lineStyle: {color: colour, type: ['solid', 'dashed', 'dotted'][round % 3]},
    data: curve.points.map(point => ({
      value: [point.rate, point[statistic]], curve, point, symbolSize: 9,
      itemStyle: point.saturated ? {color: page, borderColor: colour, borderWidth: 1.5} : {color: colour},
    })),
  };
}

function limitLines(bounds, statistic) {
  return {
    symbol: 'none', silent: true, lineStyle: {color: theme().muted, type: 'dashed'},
    label: {formatter: ({value}) => `limit ${formatValue(value, 'ns')}`, position: 'insideEndTop', color: theme().muted},
    data: bounds.filter(bound => bound.statistic === statistic).map(bound => ({yAxis: bound.limit_ns})),
  };
}

function drawLoad() {
  const family = loadFamily();
  byId('load-section').hidden = !family;
  if (!family) return;
  chartIn('load-chart').resize();  // the window may have changed while it was hidden
  const {curves, bounds} = family;
  const statistic = loadStatistic(family);
  byId('load-statistic').value = statistic;
  const points = curves.flatMap(curve => curve.points);
  const series = curves.map((curve, index) => loadSeries(curve, index, statistic));
  series[0].markLine = limitLines(bounds, statistic);
  const limits = series[0].markLine.data.map(({yAxis}) => yAxis);
  draw('load-chart', `Lines of the ${statistic} of latency under load of ${curves.length} splits at ${points.length} rates.`, {
    legend: legend(series.map(({name}) => name)),
    tooltip: {trigger: 'item', formatter: ({data}) => hoveredLoad(data)},
    xAxis: valueAxis('arrivals in image/s', points.map(({rate}) => rate), 'image/s'),
    yAxis: valueAxis(`${statistic} of latency from arrival`, [...points.map(point => point[statistic]), ...limits], 'ns', {nameGap: 60}),
    series,
  });
}

// Fills the list of statistics. The chart follows the reader's choice.
function startLoad() {
  byId('load-statistic').replaceChildren(...STATISTICS.map(name => element('option', {value: name}, name)));
  byId('load-statistic').addEventListener('change', ({target}) => {
    shown.statistic = target.value;
    drawLoad();
  });
}
