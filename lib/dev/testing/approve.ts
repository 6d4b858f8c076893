import type { PrivateKeyAccount } from "viem/accounts";
import { ApiError, type ApiClient } from "@/lib/api-client/client";
import { createApiKey } from "@/lib/contracts/api-keys";
import { updateMe } from "@/lib/contracts/auth";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { updatePolicies } from "@/lib/contracts/policies";

/** The approval fields of a request. */
export interface SignedApproval {
  readonly approvalId: string;
  readonly signature: `0x${string}`;
}

type Signer = Pick<PrivateKeyAccount, "signMessage">;

/**
 * Signs the approval that the service requires.
 * @throws `error` itself when the service requires no approval
 */
export const signApproval = async (signer: Signer, error: unknown): Promise<SignedApproval> => {
  if (!(error instanceof ApiError) || error.code !== "approval_required") throw error;
  const { approvalId } = error.body as { approvalId: string };
  return { approvalId, signature: await signer.signMessage({ message: error.message }) };
};

/** Sends a request. If it needs an approval, sends it again with the wallet's signature. */
export const withApproval = <T>(
  signer: Signer,
  send: (approval?: SignedApproval) => Promise<T>,
): Promise<T> =>
  send().catch(async (error: unknown) => send(await signApproval(signer, error)));

/** Requests a code for the person's new address, approved by the sign-in wallet. */
export const sendEmailCode = async (
  signer: Signer,
  client: ApiClient,
  email: string,
): Promise<void> => {
  await withApproval(signer, (approval) =>
    client.call(updateMe, { body: { email, ...(approval ? { approval } : {}) } }),
  );
};

export const setDailyCap = async (
  signer: Signer,
  client: ApiClient,
  dailyCapUsd: string,
): Promise<void> => {
  await withApproval(signer, (approval) =>
    client.call(updatePolicies, { body: { dailyCapUsd, ...(approval ? { approval } : {}) } }),
  );
};

/**
 * Creates an API key, approved with the owner's signature. Raises the project's cap first when the
 * key's cap is above the default cap of a project.
 */
export const approvedKey = async (
  signer: Signer,
  client: ApiClient,
  body: BodyInput<typeof createApiKey>,
): Promise<ResponseOf<typeof createApiKey>> => {
  if (Number(body.dailyCapUsd ?? 0) > 1000)
    await setDailyCap(signer, client, body.dailyCapUsd ?? "");
  return withApproval(signer, (approval) =>
    client.call(createApiKey, { body: { ...body, ...(approval ? { approval } : {}) } }),
  );
};
