/** Shows the OpenAPI document, which is next to the page at any mount point. */
globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: '../openapi.json',
  deepLinking: true,
  // By default it would call a server of Swagger.
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
});
