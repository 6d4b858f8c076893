import { startAuthentication, startRegistration, WebAuthnError } from "@simplewebauthn/browser";
import type { BodyInput } from "@/lib/contracts/contract";
import type {
  PasskeyAssertion,
  PasskeyCreation,
  PasskeyRequest,
} from "@/lib/contracts/passkey-records";
import type { addPasskey } from "@/lib/contracts/passkeys";

/**
 * Creates a passkey with the options of POST /me/passkeys/options.
 * @throws Error of the browser
 */
export const makePasskey = async (
  options: PasskeyCreation,
): Promise<BodyInput<typeof addPasskey>["credential"]> => {
  const { id, rawId, response } = await startRegistration({ optionsJSON: options });
  const { clientDataJSON, attestationObject, transports } = response;
  const made = {
    clientDataJSON,
    attestationObject,
    ...(transports === undefined ? {} : { transports }),
  };
  return { id, rawId, type: "public-key", response: made };
};

/**
 * Requests the signature of one of the person's passkeys over the challenge.
 * @throws Error of the browser
 */
export const signByPasskey = async (request: PasskeyRequest): Promise<PasskeyAssertion> => {
  const { id, rawId, response } = await startAuthentication({ optionsJSON: request });
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const signed = {
    clientDataJSON,
    authenticatorData,
    signature,
    ...(userHandle === undefined ? {} : { userHandle }),
  };
  return { id, rawId, type: "public-key", response: signed };
};

/** Explains why the browser returned no passkey; null when the error is not the browser's. */
export const passkeyProblem = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  if (
    error instanceof WebAuthnError &&
    error.code === "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED"
  )
    return "This device holds a passkey of yours already.";
  if (error.name === "NotAllowedError") return "It was cancelled, or took too long.";
  if (error instanceof WebAuthnError || error instanceof DOMException)
    return "This browser or device could not do it. Try another one.";
  return null;
};
