/** The sent request as a program would send it. */
const partsOf = (request) => ({
  url: request.get('url'),
  method: request.get('method'),
  headers: request.get('headers')?.toJS() ?? {},
  body: request.get('body') && JSON.parse(request.get('body')),
});

const literal = (value) => JSON.stringify(value, null, 2);

function typescriptOf(request) {
  const { url, method, headers, body } = partsOf(request);
  const sent =
    body === undefined ? '' : `\n  body: JSON.stringify(${literal(body).replaceAll('\n', '\n  ')}),`;
  return `const response = await fetch(${literal(url)}, {
  method: ${literal(method)},
  headers: ${literal(headers).replaceAll('\n', '\n  ')},${sent}
});
console.log(response.status, await response.text());`;
}

const CONSTANTS = { true: 'True', false: 'False', null: 'None' };
const STRING_OR_CONSTANT = /"(?:\\.|[^"\\])*"|true|false|null/g;

function pythonOf(request) {
  const { url, method, headers, body } = partsOf(request);
  const python = (value) =>
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

/** Shows the OpenAPI document, which is next to the page at any mount point. */
globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: '../openapi.json',
  deepLinking: true,
  // By default it would call a server of Swagger.
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  plugins: [
    {
      fn: {
        requestSnippetGenerator_typescript: typescriptOf,
        requestSnippetGenerator_python: pythonOf,
      },
    },
  ],
  requestSnippetsEnabled: true,
  requestSnippets: {
    generators: {
      curl_bash: { title: 'curl', syntax: 'bash' },
      typescript: { title: 'TypeScript', syntax: 'javascript' },
      python: { title: 'Python', syntax: 'python' },
    },
    languages: ['curl_bash', 'typescript', 'python'],
  },
});
