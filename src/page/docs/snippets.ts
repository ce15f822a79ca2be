/** What Swagger UI passes: the request that it sent, with immutable members. */
interface Sent {
  get(name: 'url' | 'method'): string;
  get(name: 'headers'): { toJS(): Record<string, string> } | undefined;
  get(name: 'body'): string | undefined;
}

function partsOf(request: Sent) {
  const body = request.get('body');
  return {
    url: request.get('url'),
    method: request.get('method'),
    headers: request.get('headers')?.toJS() ?? {},
    body: body === undefined ? undefined : (JSON.parse(body) as unknown),
  };
}

const literal = (value: unknown): string => JSON.stringify(value, null, 2);

/** The request with `fetch`. */
export function typescriptOf(request: Sent): string {
  const { url, method, headers, body } = partsOf(request);
  const sent =
    body === undefined ? '' : `\n  body: JSON.stringify(${literal(body).replaceAll('\n', '\n  ')}),`;
  return `const response = await fetch(${literal(url)}, {
  method: ${literal(method)},
  headers: ${literal(headers).replaceAll('\n', '\n  ')},${sent}
});
const answer = await response.text();`;
}

const CONSTANTS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
const STRING_OR_CONSTANT = /"(?:\\.|[^"\\])*"|true|false|null/g;

/** The request with the library that the Python client uses. */
export function pythonOf(request: Sent): string {
  const { url, method, headers, body } = partsOf(request);
  const python = (value: unknown): string =>
    literal(value)
      .replace(STRING_OR_CONSTANT, (text) => CONSTANTS[text] ?? text)
      .replaceAll('\n', '\n    ');
  const sent = body === undefined ? '' : `\n    json=${python(body)},`;
  return `import httpx

response = httpx.request(
    ${literal(method)},
    ${literal(url)},
    headers=${python(headers)},${sent}
)
print(response.status_code, response.text)`;
}
