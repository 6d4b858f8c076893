/** Where verdicts on addresses come from, beside the oracles of the chain file. */
import { z } from "zod";
import { listOf } from "./production";

const KEY_BYTES = 32;

const listKey = z
  .string()
  .regex(/^[^:\s]{1,100}:[A-Za-z0-9+/]{43}=$/, "must be name:key, the key being 32 bytes in base64")
  .transform((text): readonly [string, Uint8Array] => {
    const at = text.indexOf(":");
    return [text.slice(0, at), new Uint8Array(Buffer.from(text.slice(at + 1), "base64"))];
  })
  .refine(([, bytes]) => bytes.byteLength === KEY_BYTES, "must have a key of 32 bytes");

export const screeningVariables = {
  /** Ed25519 public keys that sanctions lists may be signed with: `name:base64`, comma separated. */
  SCREENING_LIST_KEYS: z.string().transform(listOf).pipe(z.array(listKey)).prefault(""),
  /** A screening provider that is asked by HTTP. */
  SCREENING_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Bearer token for the provider. */
  SCREENING_TOKEN: z.string().min(1).optional(),
};

export interface ScreeningConfig {
  /** Public keys, 32 bytes each, by their name. */
  readonly listKeys: ReadonlyMap<string, Uint8Array>;
  /** Null: no provider is asked. */
  readonly provider: { readonly url: string; readonly token: string | null } | null;
}

export const screeningOf = (env: {
  readonly SCREENING_LIST_KEYS: readonly (readonly [string, Uint8Array])[];
  readonly SCREENING_URL?: string | undefined;
  readonly SCREENING_TOKEN?: string | undefined;
}): ScreeningConfig => ({
  listKeys: new Map(env.SCREENING_LIST_KEYS),
  provider: env.SCREENING_URL === undefined ? null : { url: env.SCREENING_URL, token: env.SCREENING_TOKEN ?? null },
});
