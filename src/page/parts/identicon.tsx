const CELLS = 5;
const SIZE = 24;

/** A picture of an address: the same address has the same picture; the right half mirrors the left. */
export const Identicon = ({ address, size = SIZE }: { readonly address: string; readonly size?: number }) => {
  const digits = [...address.slice(2).toLowerCase()].map((digit) => Number.parseInt(digit, 16) || 0);
  const hue = ((digits[0] ?? 0) * 16 + (digits[1] ?? 0)) * 1.4;
  const isSet = (x: number, y: number): boolean =>
    (digits[2 + y * 3 + Math.min(x, CELLS - 1 - x)] ?? 0) % 2 === 1;
  const cells = Array.from(
    { length: CELLS * CELLS },
    (_, at) => [at % CELLS, Math.floor(at / CELLS)] as const,
  );
  return (
    <svg
      class="identicon"
      viewBox={`0 0 ${CELLS} ${CELLS}`}
      width={size}
      height={size}
      aria-hidden="true"
      focusable="false"
    >
      <rect width={CELLS} height={CELLS} fill={`hsl(${hue} 45% 88%)`} />
      {cells
        .filter(([x, y]) => isSet(x, y))
        .map(([x, y]) => (
          <rect key={`${x} ${y}`} x={x} y={y} width="1" height="1" fill={`hsl(${hue} 60% 42%)`} />
        ))}
    </svg>
  );
};
