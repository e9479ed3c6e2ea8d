// The share of the time during which each stage computes.

function drawUtilisation() {
  const splits = detailGroup().splits.filter(split => split.utilisation.length > 0);
  const {series: colours, symbols} = theme();
  const stages = Math.max(0, ...splits.map(split => split.utilisation.length));
  const names = Array.from({length: stages}, (_, stage) => `stage ${stage}`);
  const rows = split => split.utilisation.flatMap((share, stage) => [
    [`${names[stage]} computes`, formatShare(share), colours[stage % colours.length]],
    [`${names[stage]} is idle`, formatShare(1 - share)],
  ]);
  draw('utilisation-chart', `Lines of the utilisation of ${stages} stages at ${splits.length} splits.`, {
    legend: legend(names),
    tooltip: {trigger: 'axis', formatter: marks => hoverCard(`Split ${splits[marks[0].dataIndex].label}`, rows(splits[marks[0].dataIndex]))},
    xAxis: splitAxis(splits),
    yAxis: axis('utilisation', {type: 'value', min: 0, max: 1, nameGap: 44, axisLabel: {color: theme().muted, formatter: formatShare}}),
    series: names.map((name, stage) => ({
      name, type: 'line', symbol: symbols[stage % symbols.length], symbolSize: 7, showSymbol: splits.length <= 60,
      itemStyle: {color: colours[stage % colours.length]},
      data: splits.map(split => split.utilisation[stage] ?? null),
    })),
    ...zoomFor(splits),
  });
}
