import { isHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { parseUrl } from "@/lib/core/redaction";
import { howToSet, missingText } from "./problem-texts";
import { DEVELOPMENT_SECRET_PREFIX, listOf, type Variables, withoutPrefix } from "./values";

/**
 * Accounts 0 to 9 of the published mnemonic of anvil and Hardhat ("test test … junk"). Anybody can
 * spend from them.
 */
const PUBLISHED_ADDRESSES: ReadonlySet<string> = new Set([
  "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
  "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
  "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
  "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
  "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
  "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
]);

const DISTINCT_MAX_NEEDED = 10;
const STEPS_NEEDED = 4;

/** Whether the text repeats a shorter text: `abab…`, or the same 16 digits twice. */
const repeats = (text: string): boolean => {
  for (let period = 1; period <= text.length / 2; period += 1)
    if (text.slice(period) === text.slice(0, text.length - period)) return true;
  return false;
};

/**
 * Whether a secret cannot come from a random generator, because it has few different characters,
 * repeats itself, or is a sequence such as `0123456789abcdef`. Rejects fewer than one in a million
 * random texts of at least 16 hex digits.
 */
const isGuessable = (secret: string): boolean => {
  const text = secret.toLowerCase();
  const distinct = new Set(text).size;
  if (distinct < Math.min(DISTINCT_MAX_NEEDED, Math.floor(text.length / 4))) return true;
  const steps = new Set(
    Array.from(text.slice(1), (char, index) => char.charCodeAt(0) - text.charCodeAt(index)),
  );
  return steps.size < STEPS_NEEDED || repeats(text);
};

/** Why this private key must not hold money, or null. */
const privateKeyProblem = (key: string): string | null => {
  if (!isHex(key)) return null;
  try {
    return PUBLISHED_ADDRESSES.has(privateKeyToAddress(key))
      ? "is one of the published test keys of anvil; everybody has it"
      : null;
  } catch {
    return "is not a private key of secp256k1";
  }
};

/**
 * The required value of `DEVELOPMENT_ON_ALL_INTERFACES`. It is a sentence, so that nobody sets it
 * without reading it.
 */
export const DEVELOPMENT_CONSENT = "yes-anybody-may-move-this-money";

const WEBHOOK_SECRET_LENGTH_MIN = 16;
const KEY_LISTS = ["KEY_ENCRYPTION_KEY_PREVIOUS", "EXECUTOR_PRIVATE_KEYS"];
const PRIVATE_KEYS = ["EXECUTOR_PRIVATE_KEY", "EXECUTOR_PRIVATE_KEYS"];
const SECRETS = [
  "APP_SECRET",
  "APP_SECRET_PREVIOUS",
  "KEY_ENCRYPTION_KEY",
  ...KEY_LISTS,
  "WEBHOOK_SECRET",
  "RELAY_WEBHOOK_SECRET",
  "ACROSS_WEBHOOK_SECRET",
  "METRICS_TOKEN",
  "VAPID_PRIVATE_KEY",
  "EXECUTOR_PRIVATE_KEY",
];
/** Variables that production needs in addition to those that are always required. */
const NEEDED = ["CHAINS_FILE", "WEBHOOK_SECRET", "SMTP_URL", "PUBLIC_URL"] as const;
const RATE_LIMITS = ["RATE_LIMIT_PER_KEY", "RATE_LIMIT_PER_IP", "RATE_LIMIT_SIGN_IN_PER_IP"];

export const isLoopback = (host: string): boolean =>
  /^(localhost|([a-z0-9-]+\.)+localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

const urlOf = (value: string | undefined): URL | null =>
  value === undefined ? null : parseUrl(value);

interface Secret {
  readonly name: string;
  /** The secret without the prefix of development secrets. */
  readonly value: string;
  readonly isDevelopment: boolean;
}

const secretsOf = (given: Variables): Secret[] =>
  SECRETS.flatMap((name) => {
    const value = given[name];
    if (value === undefined) return [];
    return (KEY_LISTS.includes(name) ? listOf(value) : [value]).map((one) => ({
      name,
      value: withoutPrefix(one),
      isDevelopment: one.startsWith(DEVELOPMENT_SECRET_PREFIX),
    }));
  });

const comparable = (secret: Secret): string => secret.value.replace(/^0x/i, "").toLowerCase();

const secretProblems = (given: Variables): string[] => {
  const secrets = secretsOf(given);
  const problems: string[] = [];
  for (const [index, secret] of secrets.entries()) {
    const { name, value, isDevelopment } = secret;
    if (isDevelopment) problems.push(`${name} is a development secret; ${howToSet(name)}`);
    if (isGuessable(value.replace(/^0x/i, "")))
      problems.push(`${name} can be guessed; ${howToSet(name)}`);
    const wrong = PRIVATE_KEYS.includes(name) ? privateKeyProblem(value) : null;
    if (wrong !== null) problems.push(`${name} ${wrong}`);
    const twin = secrets
      .slice(0, index)
      .find((other) => comparable(other) === comparable(secret));
    if (twin !== undefined)
      problems.push(`${name} and ${twin.name} have the same value; each needs one of its own`);
  }
  const { WEBHOOK_SECRET: webhookSecret } = given;
  if (webhookSecret !== undefined && webhookSecret.length < WEBHOOK_SECRET_LENGTH_MIN)
    problems.push(
      `WEBHOOK_SECRET must have at least ${String(WEBHOOK_SECRET_LENGTH_MIN)} characters`,
    );
  return problems;
};

const transportProblems = (given: Variables): string[] => {
  const problems: string[] = [];
  const publicUrl = urlOf(given.PUBLIC_URL);
  if (publicUrl !== null && publicUrl.protocol !== "https:" && !isLoopback(publicUrl.hostname))
    problems.push(
      "PUBLIC_URL must begin with https://, or sessions and codes could be read on the way",
    );
  const smtp = urlOf(given.SMTP_URL);
  const isEncrypted =
    smtp?.protocol === "smtps:" || smtp?.searchParams.get("requireTLS") === "true";
  if (smtp !== null && !isEncrypted && !isLoopback(smtp.hostname))
    problems.push(
      "SMTP_URL must use TLS, or one-time codes could be read on the way: begin it with smtps, or add ?requireTLS=true for STARTTLS",
    );
  return problems;
};

/**
 * All reasons for which production refuses to start. Reads the raw variables, so that one problem
 * does not hide another.
 */
export const productionProblems = (given: Variables): string[] => {
  const needed = NEEDED.filter((name) => given[name] === undefined).map(missingText);
  const unlimited = RATE_LIMITS.filter((name) => Number(given[name] ?? 1) === 0).map(
    (name) => `${name} must not be 0 in production; codes and keys could be tried without end`,
  );
  const devnet = given.DEVNET === "1" ? ["DEVNET=1 is for development"] : [];
  return [
    ...needed,
    ...secretProblems(given),
    ...transportProblems(given),
    ...unlimited,
    ...devnet,
  ];
};

/**
 * Why a development server must not listen on `HOST`; null when it may. Development shows the
 * one-time codes to everybody, so it listens only on this machine unless the environment explicitly
 * allows more.
 */
export const developmentHostProblem = (given: Variables): string | null => {
  const { HOST: host, DEVELOPMENT_ON_ALL_INTERFACES: consent } = given;
  if (host === undefined || host === "" || isLoopback(host) || consent === DEVELOPMENT_CONSENT)
    return null;
  return `HOST is ${host}, and in development everybody who reaches it can read one-time codes and move money. Set HOST=127.0.0.1, or CAUSEWAY_ENV=production, or DEVELOPMENT_ON_ALL_INTERFACES=${DEVELOPMENT_CONSENT}`;
};
