import { getAddress, keccak256, toHex } from "viem";

/** Replaces the first time in a recording. Later times keep their distance to it. */
const FIRST_MOMENT_MS = Date.parse("2026-01-01T12:00:00Z");

/**
 * For each field whose text is secret or random, the text that replaces it, by the field's name.
 */
const BY_NAME: Readonly<Record<string, string>> = {
  accessToken: "eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.e30.example",
  refreshToken: "example-refresh-token",
  mnemonic: "test test test test test test test test test test test junk",
  nonce: "ExampleNonce12345",
  otp: "123456",
  code: "123456",
  kid: "example-key",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  salt: "0x00",
  noteId: "1234567890",
  prefix: "cw_test_1a2b",
  last4: "3c4d",
  // Tests of private operations use a fake engine, but the examples name the real engine.
  engine: "Privacy Pools (0xbow)",
};

/**
 * Fields that are replaced only when they contain six digits. Their names also stand for other
 * values, such as the code of an error.
 */
const SIX_DIGITS: ReadonlySet<string> = new Set(["otp", "code"]);

const PATTERNS = {
  time: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g,
  id: /\b([a-z]{2,4})_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
  hex: /0x[0-9a-fA-F]{40,}/g,
  digits: /\b\d{30,}\b/g,
} as const;

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/cw_(test|live)_[A-Za-z0-9]{20,}/g, "cw_test_example"],
  // The public part of a key, as mails show it.
  [/cw_(test|live)_\w{4}\b/g, "cw_test_1a2b"],
  [/whsec_[A-Za-z0-9+/=]+/g, "whsec_ZXhhbXBsZSBzZWNyZXQ="],
  [/v1,[A-Za-z0-9+/=]{20,}/g, "v1,ZXhhbXBsZSBzaWduYXR1cmU="],
  [/(webhook-receiver\/)[\w.-]+/g, "$1example-token"],
  [/[\w.+-]*[*•…][\w.+*•…-]*@[\w.*•…-]+/g, "p***@example.com"],
  [/[\w.+-]+@[\w-]+\.[\w.-]+\b/g, "person@example.com"],
  [/127\.0\.0\.1:\d+|localhost:\d+/g, "localhost:3000"],
  [/Nonce: \w+/g, "Nonce: ExampleNonce12345"],
  [/\b\d{6}\b(?= is your| approves)/g, "123456"],
];

const hexLike = (text: string, number: number): string => {
  const digest = keccak256(toHex(`example ${String(number)}`));
  if (text.length === 42) return getAddress(digest.slice(0, 42));
  if (text.length === 66) return digest;
  // Signatures and call data keep their first bytes, because the rest tells a reader nothing.
  return `${text.slice(0, 10)}${digest.slice(2)}`;
};

/**
 * Returns the same JSON with stable replacements. Equal texts stay equal, and nothing identifies a
 * person, a key or a time of the run.
 */
export const lookAlikes = <T>(value: T): T => {
  const known = new Map<string, string>();
  let first: number | null = null;

  const remember = (text: string, make: (number: number) => string): string => {
    const same = known.get(text.toLowerCase());
    if (same !== undefined) return same;
    const made = make(known.size + 1);
    known.set(text.toLowerCase(), made);
    return made;
  };

  const timeLike = (text: string): string => {
    const at = Date.parse(text);
    first ??= at;
    const seconds = Math.round((at - first) / 1000);
    return new Date(FIRST_MOMENT_MS + seconds * 1000).toISOString();
  };

  const textLike = (name: string, text: string): string => {
    const isWord = SIX_DIGITS.has(name) && !/^\d{6}$/.test(text);
    if (BY_NAME[name] !== undefined && !isWord) return BY_NAME[name];
    const withoutSecrets = SECRETS.reduce(
      (done, [pattern, likeness]) => done.replaceAll(pattern, likeness),
      text,
    );
    return withoutSecrets
      .replaceAll(PATTERNS.time, timeLike)
      .replaceAll(PATTERNS.id, (id, prefix: string) =>
        remember(
          id,
          (number) => `${prefix}_01980000-0000-7000-8000-${String(number).padStart(12, "0")}`,
        ),
      )
      .replaceAll(PATTERNS.hex, (hex) => remember(hex, (number) => hexLike(hex, number)))
      .replaceAll(PATTERNS.digits, (digits) =>
        remember(digits, (number) => String(1_000_000 + number)),
      );
  };

  const walk = (name: string, inner: unknown): unknown => {
    if (typeof inner === "string") return textLike(name, inner);
    if (Array.isArray(inner)) return inner.map((each) => walk(name, each));
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, each]) => [textLike("", key), walk(key, each)]),
    );
  };

  return walk("", value) as T;
};
