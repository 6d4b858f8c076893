import { generateKeyPairSync, sign } from "node:crypto";

export interface ListContent {
  readonly list: string;
  readonly version: number;
  readonly issuedAt: string;
  readonly validUntil: string;
  readonly source: string;
  readonly entries: readonly { readonly address: string; readonly label?: string }[];
}

const RAW_KEY_BYTES = 32;
const DAY_MS = 86_400_000;

/** A signer of sanctions lists with a separate key. */
export const createListSigner = (keyId = "test-key") => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = new Uint8Array(
    publicKey.export({ format: "der", type: "spki" }).subarray(-RAW_KEY_BYTES),
  );
  return {
    keys: new Map([[keyId, raw]]),
    /** The value for SCREENING_LIST_KEYS. */
    variable: `${keyId}:${Buffer.from(raw).toString("base64")}`,
    /** The text of a signed file. */
    file: (content: object): string => {
      const payload = Buffer.from(JSON.stringify(content));
      const signature = sign(null, payload, privateKey).toString("base64");
      return JSON.stringify({ payload: payload.toString("base64"), keyId, signature });
    },
  };
};

/** A list that is valid now. */
export const listContent = (over: Partial<ListContent> = {}): ListContent => ({
  list: "test",
  version: 1,
  issuedAt: new Date(Date.now() - DAY_MS).toISOString(),
  validUntil: new Date(Date.now() + DAY_MS).toISOString(),
  source: "https://example.com/list",
  entries: [],
  ...over,
});
