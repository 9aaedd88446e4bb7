/**
 * One error type for every failed request. `code` is the literal of problem+json; three codes are ours:
 * `network` (no answer), `not_a_problem` (an answer of another shape) and `stream_lost`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly fields: Readonly<Record<string, string>>;

  constructor(problem: {
    status: number;
    code: string;
    title: string;
    detail: string;
    fields?: unknown;
  }) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.code;
    this.title = problem.title;
    this.fields = isStringRecord(problem.fields) ? problem.fields : {};
  }
}

function isStringRecord(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((v) => typeof v === 'string')
  );
}

/** Reads a failed answer's parsed body; anything that is not problem+json says so with the status. */
export function toApiError(status: number, body: unknown): ApiError {
  if (
    typeof body === 'object' &&
    body !== null &&
    'code' in body &&
    typeof body.code === 'string'
  ) {
    const problem = body as {
      code: string;
      title?: unknown;
      detail?: unknown;
      fields?: unknown;
    };
    const title =
      typeof problem.title === 'string'
        ? problem.title
        : 'The request was refused';
    const detail = typeof problem.detail === 'string' ? problem.detail : title;
    return new ApiError({
      status,
      code: problem.code,
      title,
      detail,
      fields: problem.fields,
    });
  }
  return new ApiError({
    status,
    code: 'not_a_problem',
    title: `The server answered ${status}`,
    detail:
      'The answer was not one this page understands. A proxy in between or a restart may be the reason.',
  });
}

export function networkError(cause: unknown): ApiError {
  const error = new ApiError({
    status: 0,
    code: 'network',
    title: 'The server cannot be reached',
    detail:
      'No answer came back. Check that the server is running and that this page is online.',
  });
  error.cause = cause;
  return error;
}

export function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError;
}
