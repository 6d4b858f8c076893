import { createHash } from "node:crypto";

/** A JSON value. The order of keys does not matter. */
export type ChangeValue =
  | string
  | number
  | boolean
  | null
  | readonly ChangeValue[]
  | { readonly [key: string]: ChangeValue };

/** JSON with sorted keys, so that equal values have equal texts. */
const canonical = (value: ChangeValue): string => {
  if (Array.isArray(value)) return `[${value.map((item: ChangeValue) => canonical(item)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value as Readonly<Record<string, ChangeValue>>).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
};

/** SHA-256 of the canonical JSON. */
export const digestOf = (value: ChangeValue): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash("sha256").update(canonical(value)).digest());
