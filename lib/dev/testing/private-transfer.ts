import type { Services } from "@/lib/composition";
import { newId } from "@/lib/core/ids";
import { type PrivateTransfer, privateTransferColumns } from "@/lib/money/privacy/rows";

/** Default values for the columns of a private transfer. */
export const EMPTY_PRIVATE_TRANSFER: Omit<
  PrivateTransfer,
  | "projectId"
  | "id"
  | "operationId"
  | "kind"
  | "walletId"
  | "chainId"
  | "token"
  | "tokenOut"
  | "amountBase"
  | "createdBy"
> = {
  toWalletId: null,
  toAddress: null,
  noteId: null,
  path: null,
  minimumBase: null,
  digest: new Uint8Array(32),
  idempotencyKey: null,
  requestDigest: null,
  createdAt: new Date(),
};

/** Stores a private transfer for an existing operation. @returns its id */
export const storedPrivateTransfer = async (
  { database: { prisma }, registry }: Services,
  { operationId, walletId }: Pick<PrivateTransfer, "operationId" | "walletId">,
): Promise<string> => {
  const [id, chainId] = [newId("transfer"), 31337];
  const { projectId, createdBy } = await prisma.operation.findUniqueOrThrow({
    where: { id: operationId },
  });
  const token = registry.native(chainId);
  const about = {
    projectId,
    id,
    operationId,
    kind: "private_transfer",
    walletId,
    chainId,
    createdBy,
  } as const;
  const money = { token, tokenOut: token, amountBase: 1n };
  await prisma.privacyTransfer.create({
    data: privateTransferColumns({ ...EMPTY_PRIVATE_TRANSFER, ...about, ...money }),
  });
  return id;
};
