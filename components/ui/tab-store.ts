import type { z } from "zod";

export interface TabStore<Value> {
  /** Returns null when nothing is stored, or when the stored value has another format. */
  readonly read: () => Value | null;
  readonly save: (value: Value) => void;
  readonly drop: () => void;
}

const quietly = (change: () => void): void => {
  try {
    change();
  } catch {
    // The storage is missing or full. The value is then lost at a reload, which does no harm.
  }
};

/** A value that this tab stores over a reload. */
export const tabStore = <Value>(key: string, schema: z.ZodType<Value>): TabStore<Value> => ({
  read: () => {
    try {
      return schema.parse(JSON.parse(sessionStorage.getItem(key) ?? "null"));
    } catch {
      return null;
    }
  },
  save: (value) => quietly(() => sessionStorage.setItem(key, JSON.stringify(value))),
  drop: () => quietly(() => sessionStorage.removeItem(key)),
});
