/** The answers of the exchange as TypedDicts of clients/python, from the schemas of the OpenAPI document. */

/** What the methods of the Python client return; everything in them follows. */
const ROOTS = [
  ...['Config', 'MarketPage', 'Event', 'Trading', 'Orderbook', 'Ticker', 'TradePage', 'Candles'],
  ...['Order', 'OrderPage', 'OrderFillPage', 'SignedOrder', 'Submission', 'Replacement', 'BatchResults'],
  ...['Cancelled', 'CancelledAll', 'CancelledEverywhere', 'CancelledList', 'Balances', 'Portfolio'],
  ...[
    'PositionPage',
    'OwnTradePage',
    'ActivityPage',
    'Holders',
    'MarketTradePage',
    'Leaderboard',
    'Nonce',
    'ApiKey',
    'NewApiKey',
    'WalletCall',
    'CommentPage',
  ],
];

const HEAD = `"""The answers of the exchange. Written by \`npm run docs\` from the OpenAPI document; do not edit."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired
`;

const SCALARS = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' };
const literal = (values) => `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`;

function pythonTypes(schemas) {
  const aliases = new Map();
  const classes = new Map();

  function named(name) {
    const schema = schemas[name];
    if (schema.discriminator) return 'Mapping[str, Any]';
    if (schema.type === 'object') {
      typedDict(name, schema);
      return name;
    }
    const type = typeOf(schema, name);
    if (!type.includes('Literal')) return type;
    aliases.set(name, type);
    return name;
  }

  function typedDict(name, { properties, required = [] }) {
    if (classes.has(name)) return;
    classes.set(name, '');
    const members = Object.entries(properties).map(([member, schema]) => {
      const type = typeOf(schema, name + member[0].toUpperCase() + member.slice(1));
      return `    ${member}: ${required.includes(member) ? type : `NotRequired[${type}]`}`;
    });
    classes.set(name, `class ${name}(TypedDict):\n${members.join('\n')}\n`);
  }

  /** `name` is that of the class if the schema is an object without a name of its own. */
  function typeOf(schema, name) {
    if (schema.$ref) return named(schema.$ref.split('/').at(-1));
    const choices = schema.anyOf ?? schema.oneOf;
    const types = [schema.type].flat();
    if (choices || types.length > 1) {
      const parts = choices ?? types.map((type) => ({ ...schema, type }));
      const some = parts.filter(({ type }) => type !== 'null').map((part) => typeOf(part, name));
      const union = some.length > 1 ? `Union[${some.join(', ')}]` : some[0];
      return some.length < parts.length ? `Optional[${union}]` : union;
    }
    if (schema.enum) return literal(schema.enum.filter((value) => value !== null));
    if (schema.type === 'array') return `List[${typeOf(schema.items, name)}]`;
    if (schema.type !== 'object') return SCALARS[schema.type] ?? 'Any';
    if (!schema.properties) return `Dict[str, ${typeOf(schema.additionalProperties, name)}]`;
    typedDict(name, schema);
    return name;
  }

  for (const root of ROOTS) named(root);
  const names = [...aliases].map(([name, type]) => `${name} = ${type}\n`).join('');
  return [HEAD, names, ...classes.values()].join('\n\n').replaceAll('\n\n\n\n', '\n\n\n');
}

module.exports = { pythonTypes };
