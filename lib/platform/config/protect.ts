/** Registers the secrets of the configuration for redaction. */
import { parseUrl, protectSecrets } from "@/lib/core/redaction";
import type { ChainConfig } from "./chains";
import { listOf, type Variables, withoutPrefix } from "./values";

/**
 * `name=value` → [name, value]. OpenTelemetry percent-encodes values; a value that cannot be
 * decoded is used unchanged.
 */
export const headerOf = (text: string): [string, string] => {
  const [name = "", ...rest] = text.split("=");
  const value = rest.join("=").trim();
  try {
    return [name.trim(), decodeURIComponent(value)];
  } catch {
    return [name.trim(), value];
  }
};

const SECRET_NAME = /_(?:SECRET|TOKEN|API_KEY|ENCRYPTION_KEY|PRIVATE_KEYS?)(?:_PREVIOUS)?$/;
const URL_NAME =
  /^(DATABASE_([A-Z]+_)?URL|SMTP_URL|SCREENING_URL|(RPC|BUNDLER|PRIVATE_RELAY)_URL_\d+)$/;

const secretUrls = ({ rpcUrls, privateRelayUrl }: ChainConfig): string[] =>
  privateRelayUrl === undefined ? rpcUrls : [...rpcUrls, privateRelayUrl];

/**
 * The base64 texts in which a mail client sends the password of this URL (AUTH LOGIN and AUTH
 * PLAIN). Mail servers may repeat these texts in errors.
 */
const smtpForms = (url: string): string[] => {
  const parsed = parseUrl(url);
  if (parsed === null) return [];
  const [user, password] = [parsed.username, parsed.password].map(decodeURIComponent);
  return password
    ? [password, `\0${user ?? ""}\0${password}`].map((text) =>
        Buffer.from(text).toString("base64"),
      )
    : [];
};

/**
 * The secrets in the headers of trace exports, such as the collector's API key: each whole
 * `name=value`, and its decoded value.
 */
const collectorSecrets = (given: Variables): string[] =>
  listOf(given.OTEL_EXPORTER_OTLP_HEADERS ?? "").flatMap((text) => [text, headerOf(text)[1]]);

/**
 * Registers the secrets of the environment and of the chains' URLs for redaction. It is first
 * called before the configuration is parsed, so that errors about the configuration reveal no
 * secret.
 */
export const protect = (given: Variables, chains: readonly ChainConfig[]): void => {
  const valuesOf = (name: RegExp): string[] =>
    Object.entries(given).flatMap(([key, value]) =>
      name.test(key) ? [value ?? "", ...listOf(value)] : [],
    );
  const secrets = valuesOf(SECRET_NAME).flatMap((value) => {
    const own = withoutPrefix(value);
    return [value, own, own.replace(/^0x/, "")];
  });
  const isPublic = new Set(chains.map((chain) => chain.publicRpcUrl));
  protectSecrets({
    values: [...secrets, ...smtpForms(given.SMTP_URL ?? ""), ...collectorSecrets(given)],
    urls: [...valuesOf(URL_NAME), ...chains.flatMap(secretUrls)].filter(
      (url) => !isPublic.has(url),
    ),
  });
};
