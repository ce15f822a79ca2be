/** Shows the document of the interface, which stands beside the page wherever that is mounted. */
globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: '../openapi.json',
  deepLinking: true,
  // Its default asks a server of Swagger's.
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
});
