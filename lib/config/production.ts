import { parseUrl } from "@/lib/core/parse-url";
import { isGuessable, privateKeyProblem } from "./weak-secrets";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Secrets that begin with this were made for development; production refuses them. */
export const DEVELOPMENT_SECRET_PREFIX = "dev_";

/** The required value of `DEVELOPMENT_ON_ALL_INTERFACES`: a sentence, so that nobody sets it unread. */
export const DEVELOPMENT_CONSENT = "yes-anybody-may-move-this-money";

const WEBHOOK_SECRET_LENGTH_MIN = 16;
/** Each may hold several, separated by commas. */
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
  "EXECUTOR_PRIVATE_KEY",
];
const RATE_LIMITS = ["RATE_LIMIT_PER_KEY", "RATE_LIMIT_PER_IP", "RATE_LIMIT_SIGN_IN_PER_IP"];
const NEEDED = {
  WEBHOOK_SECRET: "or callbacks could not be trusted",
  SMTP_URL: "or one-time codes could not be sent",
  PUBLIC_URL: "because sign-in messages name it",
} as const;

export const withoutPrefix = (value: string): string =>
  value.startsWith(DEVELOPMENT_SECRET_PREFIX) ? value.slice(DEVELOPMENT_SECRET_PREFIX.length) : value;

/** The comma separated parts, without those that are empty. */
export const listOf = (value: string | undefined): string[] =>
  (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Whether a host name or address is a loopback one. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|([a-z0-9-]+\.)+localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

const urlOf = (value: string | undefined): URL | null => (value === undefined ? null : parseUrl(value));

interface Secret {
  readonly name: string;
  /** Without prefixes. */
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
    if (isDevelopment) problems.push(`${name} is a development secret; make one of your own`);
    if (isGuessable(value.replace(/^0x/i, "")))
      problems.push(`${name} can be guessed; take one from a random generator`);
    const wrong = PRIVATE_KEYS.includes(name) ? privateKeyProblem(value) : null;
    if (wrong !== null) problems.push(`${name} ${wrong}`);
    const twin = secrets.slice(0, index).find((other) => comparable(other) === comparable(secret));
    if (twin !== undefined) problems.push(`${name} and ${twin.name} have the same value; each needs one of its own`);
  }
  const { WEBHOOK_SECRET: webhookSecret } = given;
  if (webhookSecret !== undefined && webhookSecret.length < WEBHOOK_SECRET_LENGTH_MIN)
    problems.push(`WEBHOOK_SECRET must have at least ${String(WEBHOOK_SECRET_LENGTH_MIN)} characters`);
  return problems;
};

const transportProblems = (given: Variables): string[] => {
  const problems: string[] = [];
  const publicUrl = urlOf(given.PUBLIC_URL);
  if (publicUrl !== null && publicUrl.protocol !== "https:" && !isLoopback(publicUrl.hostname))
    problems.push("PUBLIC_URL must begin with https://, or sessions and codes could be read on the way");
  const smtp = urlOf(given.SMTP_URL);
  const isEncrypted = smtp?.protocol === "smtps:" || smtp?.searchParams.get("requireTLS") === "true";
  if (smtp !== null && !isEncrypted && !isLoopback(smtp.hostname))
    problems.push(
      "SMTP_URL must use TLS, or one-time codes could be read on the way: begin it with smtps, or add ?requireTLS=true for STARTTLS",
    );
  return problems;
};

/** Everything for which production refuses to start. Reads the raw variables, so that one problem does not hide another. */
export const productionProblems = (given: Variables): string[] => {
  const needed = Object.entries(NEEDED).flatMap(([name, why]) =>
    given[name] === undefined ? [`${name} is needed in production, ${why}`] : [],
  );
  const unlimited = RATE_LIMITS.filter((name) => Number(given[name] ?? 1) === 0).map(
    (name) => `${name} must not be 0 in production; codes and keys could be tried without end`,
  );
  const devnet = given.DEVNET === "1" ? ["DEVNET=1 is for development"] : [];
  return [...needed, ...secretProblems(given), ...transportProblems(given), ...unlimited, ...devnet];
};

/**
 * Development gives every reader the one-time codes, so it listens on this machine alone unless the environment
 * explicitly allows it. Returns null when there is no problem.
 */
export const developmentHostProblem = (given: Variables): string | null => {
  const { HOST: host, DEVELOPMENT_ON_ALL_INTERFACES: consent } = given;
  if (host === undefined || host === "" || isLoopback(host) || consent === DEVELOPMENT_CONSENT) return null;
  return `HOST is ${host}, and in development everybody who reaches it can read one-time codes and move money. Set HOST=127.0.0.1, or CAUSEWAY_ENV=production, or DEVELOPMENT_ON_ALL_INTERFACES=${DEVELOPMENT_CONSENT}`;
};
