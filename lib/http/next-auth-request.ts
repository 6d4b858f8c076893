import { type DomainError, invalidRequest } from "@/lib/core/errors";
import { parseUrl } from "@/lib/core/redaction";

/** The fields of a next-auth request that determine whether next-auth could answer it. */
interface NextAuthRequest {
  readonly url: string;
  readonly method: string;
  readonly contentType: string;
  readonly body: string;
}

const ERROR_NAME = /^[A-Za-z_]{1,64}$/;

const fault = (path: string, message: string): DomainError =>
  invalidRequest([{ path, message }]);

const isWebUrl = (text: string): boolean => {
  const base = text.startsWith("/") ? "http://localhost" : undefined;
  return /^https?:$/.test(parseUrl(text, base)?.protocol ?? "");
};

const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

/**
 * Refuses invalid requests that next-auth would answer with 500: it writes `error` into a header
 * unchecked, treats an invalid `callbackUrl` as a wrong configuration, and expects JSON to be an
 * object.
 * @throws DomainError `invalid_request`
 */
export const checkNextAuthRequest = ({
  url,
  method,
  contentType,
  body,
}: NextAuthRequest): void => {
  const query = new URL(url).searchParams;
  const error = query.get("error");
  if (error !== null && !ERROR_NAME.test(error))
    throw fault("error", "error must be a code of letters.");
  const callbackUrl = query.get("callbackUrl");
  if (callbackUrl !== null && callbackUrl !== "" && !isWebUrl(callbackUrl))
    throw fault("callbackUrl", "callbackUrl must be a path or an http(s) URL.");
  if (method === "POST" && contentType.includes("application/json") && !isObject(body))
    throw fault("", "The body is not a JSON object.");
};
