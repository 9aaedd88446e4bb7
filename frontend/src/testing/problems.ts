/** The refusals of the fake server, in problem+json. */
import { HttpResponse } from 'msw';

export function problem(
  status: number,
  code: string,
  detail: string,
  fields?: Record<string, string>,
) {
  return HttpResponse.json(
    {
      type: 'about:blank',
      title: detail.split('.')[0] ?? code,
      status,
      code,
      detail,
      ...(fields ? { fields } : {}),
    },
    { status, headers: { 'Content-Type': 'application/problem+json' } },
  );
}
