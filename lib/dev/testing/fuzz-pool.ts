/**
 * Collects values from the service's answers, so that later requests of the fuzzer refer to
 * existing objects.
 */

/**
 * Placeholder for a value that is chosen when the request is sent: one of the pool's values of this
 * kind, or `otherwise` when it has none.
 */
export class Pick {
  constructor(
    readonly kind: string,
    readonly at: number,
    readonly otherwise: unknown,
  ) {}
}

const ID = /^([a-z]+)_[0-9a-f]{8}-[0-9a-f-]{27}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const KEPT_PER_KIND = 40;
const TEXT_LENGTH_MAX = 400;

/** The kind of an id: `id:` and its prefix; null for other texts. */
export const idKind = (text: unknown): string | null => {
  const prefix = typeof text === "string" ? ID.exec(text)?.[1] : undefined;
  return prefix === undefined ? null : `id:${prefix}`;
};

/**
 * The kind of a property's values, from the end of its name: `fromChainId` is the same kind as
 * `chainId`.
 */
export const propertyKind = (name: string): string => {
  if (/chainid$/i.test(name)) return "chainId";
  if (/address$|^recipient$|^owner$/i.test(name)) return "address";
  if (/token$|^symbol$/i.test(name) && name.length < 12) return "symbol";
  if (/cursor$/i.test(name)) return "cursor";
  return /^otp$/.test(name) ? "code" : name;
};

export interface ValuePool {
  /** Collects the values of an answer, a list or a record. */
  keep(answer: unknown): void;
  /** Replaces every `Pick` inside a value. */
  fill(value: unknown): unknown;
}

export const createValuePool = (): ValuePool => {
  const kinds = new Map<string, unknown[]>();

  const add = (kind: string, value: unknown): void => {
    const known = kinds.get(kind) ?? [];
    if (known.includes(value)) return;
    known.push(value);
    if (known.length > KEPT_PER_KIND) known.shift();
    kinds.set(kind, known);
  };

  const keepLeaf = (name: string, value: unknown, isToken: boolean): void => {
    if (typeof value === "string" && value.length > TEXT_LENGTH_MAX) return;
    const kind = idKind(value);
    if (kind !== null) {
      add(kind, value);
      return;
    }
    const isAddress = typeof value === "string" && ADDRESS.test(value);
    // Contracts of tokens are never used as recipients, because other tests share the chains.
    if (isAddress && (isToken || propertyKind(name) !== "address")) return;
    if (typeof value === "string" || typeof value === "number") add(propertyKind(name), value);
  };

  const keep = (value: unknown, name = ""): void => {
    if (Array.isArray(value)) {
      for (const item of value) keep(item, name);
      return;
    }
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === "object") keep(inner, key);
      else keepLeaf(key, inner, "decimals" in value);
    }
  };

  const fill = (value: unknown): unknown => {
    if (value instanceof Pick) {
      const known = kinds.get(value.kind) ?? [];
      return known.length === 0 ? value.otherwise : known[value.at % known.length];
    }
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]));
  };

  return { keep, fill };
};
