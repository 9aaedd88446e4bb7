/** The filter by target that lists share. */
import { useQuery } from '@tanstack/react-query';

import { targetsQuery } from '../api/targets';
import { FilterSelect } from './filter-select';
import { targetOption } from './target-labels';

export interface TargetFilterProps {
  value: string | undefined;
  onChange: (targetId: string | undefined) => void;
}

export function TargetFilter({ value, onChange }: TargetFilterProps) {
  const targets = useQuery(targetsQuery);
  return (
    <FilterSelect
      label="Target"
      all="All targets"
      value={value}
      options={targets.data?.items.map(targetOption)}
      onChange={onChange}
    />
  );
}
