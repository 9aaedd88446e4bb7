/** Controls how the arms are drawn: x axis, values of the other params, ratios or measured values. */
import { formatParam, paramsKey } from '../../lib/params';
import { compact } from '../../lib/search-values';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { Segments } from '../../ui/segments';
import type { ArmsSearch } from './arms-search';
import { SIDE_BY_SIDE, type FixedParam, type ArmsView } from './arms-view';

/** With more values than this, a select replaces the segments. */
const SEGMENTS = 8;

export interface ViewControlsProps {
  view: ArmsView;
  metric: string;
  reference: string;
  /** Units that the value of one iteration can be divided by. */
  pers: readonly ('item' | 'byte')[];
  search: ArmsSearch;
  onSearch: (search: ArmsSearch) => void;
}

export function ViewControls({
  view,
  metric,
  reference,
  pers,
  search,
  onSearch,
}: ViewControlsProps) {
  const change = (part: Partial<ArmsSearch>) =>
    onSearch(compact({ ...search, ...part }));
  const show = search.show ?? 'ratio';
  const choices = view.fixed.filter(({ values }) => values.length > 1);
  return (
    <FilterBar label="View">
      <Segments
        label="Show"
        value={show}
        options={[
          { value: 'ratio', label: `Ratio to ${reference}` },
          { value: 'value', label: `Measured ${metric}` },
        ]}
        onChange={(next) =>
          change({ show: next === 'ratio' ? undefined : next })
        }
      />
      {show === 'value' && pers.length > 0 && (
        <Segments
          label="Per"
          value={search.per ?? 'iteration'}
          options={(['iteration', ...pers] as const).map((value) => ({
            value,
            label: value,
          }))}
          onChange={(per) =>
            change({ per: per === 'iteration' ? undefined : per })
          }
        />
      )}
      {view.xChoices.length > 0 && (
        <FilterSelect
          label="X axis"
          value={view.x ?? SIDE_BY_SIDE}
          options={[
            ...view.xChoices.map((name) => ({ value: name, label: name })),
            { value: SIDE_BY_SIDE, label: 'arms side by side' },
          ]}
          onChange={(x) => change({ x })}
        />
      )}
      {choices.map((fixed) => (
        <FixedChoice
          key={fixed.name}
          fixed={fixed}
          onChange={(value) =>
            change({
              at: paramsKey({
                ...Object.fromEntries(
                  choices.map((choice) => [choice.name, choice.value]),
                ),
                [fixed.name]: value,
              }),
            })
          }
        />
      ))}
    </FilterBar>
  );
}

function FixedChoice({
  fixed,
  onChange,
}: {
  fixed: FixedParam;
  onChange: (value: string) => void;
}) {
  const { name, unit, values, value } = fixed;
  const label = unit === null ? name : `${name} (${unit})`;
  const options = values.map((option) => ({
    value: String(option),
    label: formatParam(option),
  }));
  if (values.length <= SEGMENTS) {
    return (
      <Segments
        label={label}
        value={String(value)}
        options={options}
        onChange={onChange}
      />
    );
  }
  return (
    <FilterSelect
      label={label}
      value={String(value)}
      options={options}
      onChange={(next) => next !== undefined && onChange(next)}
    />
  );
}
