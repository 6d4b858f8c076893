import {
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import type { addPasskey } from "@/lib/contracts/passkeys";
import type { BodyOf } from "@/lib/contracts/contract";
import {
  isTransport,
  type PasskeyAssertion,
  passkeyCreation,
  type PasskeyCreation,
  type Transport,
} from "@/lib/contracts/passkey-records";

/** A passkey of a person: a discoverable WebAuthn credential. */
export interface Passkey {
  readonly id: string;
  readonly userId: string;
  /** Base64url. */
  readonly credentialId: string;
  /** COSE key (RFC 9052). */
  readonly publicKey: Uint8Array;
  /** The newest signature counter; 0 when the passkey does not count. */
  readonly counter: bigint;
  readonly transports: readonly string[];
  /** Whether the passkey may be on several devices of the person. */
  readonly synced: boolean;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /**
   * The time until which the passkey signs the person in but approves nothing; null when it was
   * not added with a recovery code.
   */
  readonly heldUntil: Date | null;
}

export const parsePasskey = (row: Passkey): Passkey => ({
  id: row.id,
  userId: row.userId,
  credentialId: row.credentialId,
  publicKey: row.publicKey,
  counter: row.counter,
  transports: row.transports,
  synced: row.synced,
  name: row.name,
  createdAt: row.createdAt,
  lastUsedAt: row.lastUsedAt,
  heldUntil: row.heldUntil,
});

export interface RelyingParty {
  /** Domain of PUBLIC_URL. */
  readonly id: string;
  readonly origin: string;
}

export const relyingPartyOf = (publicUrl: string): RelyingParty => {
  const { hostname: id, origin } = new URL(publicUrl);
  return { id, origin };
};

export type NewCredential = BodyOf<typeof addPasskey>["credential"];

const bytesOf = (base64url: string): Buffer => Buffer.from(base64url, "base64url");
export const transportsOf = (names: readonly string[]): Transport[] =>
  names.filter(isTransport);

/**
 * The challenge that the browser claims to have signed; null when the client data does not conform
 * to WebAuthn.
 */
export const challengeOf = (clientDataJSON: string): Buffer | null => {
  try {
    const data = JSON.parse(bytesOf(clientDataJSON).toString("utf8")) as {
      challenge?: unknown;
    } | null;
    return typeof data?.challenge === "string" ? bytesOf(data.challenge) : null;
  } catch {
    return null;
  }
};

interface NewPasskeyOf {
  readonly userId: string;
  /** For the browser's dialog: the address with which the person signs in. */
  readonly account: string;
  readonly challenge: Uint8Array;
  /**
   * The person's passkeys. An authenticator that has one of them refuses to create a second one.
   */
  readonly existing: readonly Passkey[];
  readonly timeoutMs: number;
}

/** Options for a discoverable credential that verifies the person. */
export const creationOptions = async (
  party: RelyingParty,
  wanted: NewPasskeyOf,
): Promise<PasskeyCreation> =>
  passkeyCreation.parse(
    await generateRegistrationOptions({
      rpName: "Causeway",
      rpID: party.id,
      userID: new Uint8Array(Buffer.from(wanted.userId)),
      userName: wanted.account,
      challenge: new Uint8Array(wanted.challenge),
      timeout: wanted.timeoutMs,
      attestationType: "none",
      excludeCredentials: wanted.existing.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: transportsOf(transports),
      })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    }),
  );

type Registered = Pick<
  Passkey,
  "credentialId" | "publicKey" | "counter" | "transports" | "synced"
>;

/**
 * The credential when the response is valid for this challenge and this service; otherwise null.
 */
export const readRegistration = async (
  party: RelyingParty,
  credential: NewCredential,
  challenge: Uint8Array,
): Promise<Registered | null> => {
  const { transports = [], ...response } = credential.response;
  const sent: RegistrationResponseJSON = {
    ...credential,
    response: { ...response, transports: transportsOf(transports) },
    clientExtensionResults: {},
  };
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: sent,
    expectedChallenge: Buffer.from(challenge).toString("base64url"),
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
  }).catch(() => ({ verified: false, registrationInfo: undefined }));
  if (!verified || registrationInfo === undefined) return null;
  const { credential: made, credentialDeviceType } = registrationInfo;
  return {
    credentialId: made.id,
    publicKey: made.publicKey,
    counter: BigInt(made.counter),
    transports,
    synced: credentialDeviceType === "multiDevice",
  };
};

/**
 * The signature counter when the passkey signed this challenge for this service and verified the
 * person; otherwise null.
 */
export const readAssertion = async (
  party: RelyingParty,
  assertion: PasskeyAssertion,
  { passkey, challenge }: { readonly passkey: Passkey; readonly challenge: Uint8Array },
): Promise<bigint | null> => {
  const { userHandle, ...response } = assertion.response;
  const sent = { ...response, ...(userHandle === undefined ? {} : { userHandle }) };
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...assertion, response: sent, clientExtensionResults: {} },
    expectedChallenge: Buffer.from(challenge).toString("base64url"),
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    // Counter 0 disables the library's check. The SQL statement that stores the new counter checks
    // it instead, so that two uses at the same time cannot both pass.
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(passkey.publicKey),
      counter: 0,
    },
    requireUserVerification: true,
  }).catch(() => ({ verified: false, authenticationInfo: undefined }));
  return verified && authenticationInfo !== undefined
    ? BigInt(authenticationInfo.newCounter)
    : null;
};
