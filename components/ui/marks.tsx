import type { ReactNode } from "react";
import { cn } from "./cn";

const SIDE = 5;
const HALF = 3;
const HUES = 360;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a: the same text has the same figure in every browser. */
const hashOf = (text: string): number => {
  let hash = FNV_OFFSET;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash >>> 0;
};

const cellsOf = (hash: number): readonly (readonly [x: number, y: number])[] =>
  Array.from({ length: HALF * SIDE }, (_, at) => at)
    .filter((at) => ((hash >>> at) & 1) === 1)
    .flatMap((at) => {
      const [x, y] = [at % HALF, Math.floor(at / HALF)];
      return x === SIDE - 1 - x ? [[x, y] as const] : [[x, y] as const, [SIDE - 1 - x, y] as const];
    });

interface MarkProps {
  readonly className?: string;
}

/** A figure that identifies a wallet or an account at a glance; a name or address always stands beside it. */
export const AddressMark = ({ value, className }: MarkProps & { readonly value: string }): ReactNode => {
  const hash = hashOf(value.toLowerCase());
  const hue = (hash >>> 15) % HUES;
  return (
    <svg
      viewBox={`-0.5 -0.5 ${String(SIDE + 1)} ${String(SIDE + 1)}`}
      className={cn("size-5 shrink-0 rounded-tag", className)}
      shapeRendering="crispEdges"
      aria-hidden
    >
      {/* A fill, not a style: the page's security policy blocks style attributes in HTML. */}
      <rect x={-0.5} y={-0.5} width={SIDE + 1} height={SIDE + 1} fill={`hsl(${String(hue)} 45% 90%)`} />
      {cellsOf(hash).map(([x, y]) => (
        <rect key={`${String(x)} ${String(y)}`} x={x} y={y} width={1} height={1} fill={`hsl(${String(hue)} 50% 38%)`} />
      ))}
    </svg>
  );
};

const Letter = ({ text, round, className }: MarkProps & { text: string; round: boolean }): ReactNode => {
  const hue = hashOf(text) % HUES;
  return (
    <svg viewBox="0 0 20 20" className={cn("size-4 shrink-0", className)} aria-hidden>
      <rect width={20} height={20} rx={round ? 10 : 4} fill={`hsl(${String(hue)} 45% 36%)`} />
      <text x={10} y={14.5} textAnchor="middle" fontSize={12} fontWeight={600} fill="#fff">
        {text.slice(0, 1).toUpperCase()}
      </text>
    </svg>
  );
};

/** Of a token, beside its symbol. */
export const TokenMark = ({ symbol, className }: MarkProps & { readonly symbol: string }): ReactNode => (
  <Letter text={symbol} round {...(className === undefined ? {} : { className })} />
);

/** Of a chain, beside its name. Local chains differ in their last character alone, so that is what it shows. */
export const ChainMark = ({ name, className }: MarkProps & { readonly name: string }): ReactNode => (
  <Letter
    text={/\d$/.test(name) ? name.slice(-1) + name : name}
    round={false}
    {...(className === undefined ? {} : { className })}
  />
);
