import { render, screen } from '@testing-library/react';

import { DataTable } from './data-table';

describe('a table whose rows are cards on narrow screens', () => {
  it('names the header of every cell beside it, where the head is out of sight', () => {
    render(
      <DataTable
        label="Machines"
        columns={[
          { header: 'Name', cell: ({ name }: { name: string }) => name },
          { header: 'State', cell: () => 'online' },
        ]}
        rows={[{ name: 'lab-host' }]}
        rowKey={({ name }) => name}
      />,
    );
    expect(
      screen.getAllByRole('cell').map((cell) => cell.dataset['header']),
    ).toEqual(['Name', 'State']);
  });
});
