import { type Interface, offerSigning } from './sign';
import { pythonOf, typescriptOf } from './snippets';

/** The script of Swagger UI, which stands before this one. */
declare const SwaggerUIBundle: (options: object) => Interface;

/** Shows the OpenAPI document, which is next to the page at any mount point. */
const swagger = SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: '../openapi.json',
  deepLinking: true,
  // By default it would call a server of Swagger.
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  onComplete: () => void offerSigning(swagger).catch(() => undefined),
  plugins: [
    { fn: { requestSnippetGenerator_typescript: typescriptOf, requestSnippetGenerator_python: pythonOf } },
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
