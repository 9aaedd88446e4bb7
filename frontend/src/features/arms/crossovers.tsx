/** Says in words from which value on each shown arm wins, or that there is no crossover. */
import type { Benchmark, Derived } from '../../api/types';
import { LineSample } from '../../charts/legend';
import { crossoverText } from '../../ui/derived-metric-texts';
import classes from './arms.module.css';
import { lookOf } from './arm-series';

export interface CrossoversProps {
  rows: readonly Derived[];
  unit: string | null;
  benchmark: Benchmark;
}

export function Crossovers({ rows, unit, benchmark }: CrossoversProps) {
  if (rows.length === 0) return null;
  return (
    <ul className={classes.crossovers} aria-label="Crossovers">
      {rows.map((row) => (
        <li key={[row.name, row.arm].join('|')}>
          <LineSample look={lookOf(benchmark, row.arm)} />
          {crossoverText(row, unit)}
          {row.value !== null && row.note !== '' && <small>{row.note}</small>}
        </li>
      ))}
    </ul>
  );
}
