import type {
  createNonce,
  createToken,
  getJwks,
  updateMe,
  verifyEmail,
} from "@/lib/contracts/auth";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { listSessions } from "@/lib/contracts/sessions";
import { getAddress } from "viem";
import { ACCESS_TOKEN_SECONDS, type Jwk } from "./access-token";
import { deviceOf } from "@/lib/core/device";
import type { Verification } from "./email";
import type { Nonce, Profile } from "./service";
import type { Session } from "./records";

interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

export const toNonce = (nonce: Nonce): ResponseOf<typeof createNonce> => ({
  nonce: nonce.nonce,
  domain: nonce.domain,
  uri: nonce.uri,
  statement: nonce.statement,
  expiresAt: nonce.expiresAt.toISOString(),
});

export const toTokens = ({
  accessToken,
  refreshToken,
}: TokenPair): ResponseOf<typeof createToken> => {
  if (refreshToken === null)
    throw new Error("A browser session has no refresh token to hand out.");
  return { accessToken, tokenType: "Bearer", expiresIn: ACCESS_TOKEN_SECONDS, refreshToken };
};

export const toJwks = ({
  keys,
}: {
  readonly keys: readonly Jwk[];
}): ResponseOf<typeof getJwks> => ({
  keys: keys.map(({ kty, crv, x, y, kid, alg, use }) => ({ kty, crv, x, y, kid, alg, use })),
});

export const toMe = (profile: Profile): ResponseOf<typeof verifyEmail> => ({
  id: profile.id,
  address: getAddress(profile.address),
  name: profile.name,
  email: profile.email,
  emailVerified: profile.emailVerifiedAt !== null,
  emailHeldUntil: profile.emailHeldUntil?.toISOString() ?? null,
  createdAt: profile.createdAt.toISOString(),
  projects: profile.projects.map(({ projectId, name, role, placeholder }) => ({
    id: projectId,
    name,
    role,
    placeholder,
  })),
});

const toVerification = (verification: Verification) => ({
  destination: verification.destination,
  expiresAt: verification.expiresAt.toISOString(),
  resendAfter: verification.resendAfter.toISOString(),
});

/** @param verification null when no code was mailed */
export const toMeWithVerification = (
  profile: Profile,
  verification: Verification | null,
): ResponseOf<typeof updateMe> => ({
  ...toMe(profile),
  verification: verification === null ? null : toVerification(verification),
});

export const toSessions = (
  sessions: readonly Session[],
  currentId: string,
): ResponseOf<typeof listSessions> => ({
  data: sessions.map((session) => ({
    id: session.id,
    kind: session.kind,
    device: deviceOf(session.userAgent),
    address: session.clientAddress,
    createdAt: session.createdAt.toISOString(),
    lastUsedAt: session.lastUsedAt?.toISOString() ?? null,
    expiresAt: session.expiresAt.toISOString(),
    current: session.id === currentId,
  })),
});
