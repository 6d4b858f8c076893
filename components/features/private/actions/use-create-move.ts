"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { codeOf, extraOf } from "@/components/features/money-flow/api-error";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import type { BodyInput } from "@/lib/contracts/contract";
import { privateTransfer, shield, unshield } from "@/lib/api-client/calls.gen";
import { pathOfTransfer } from "../kind-words";
import type { PrivateTransfer } from "../types";
import { useTakeOver } from "../use-private";
import { dropDraft } from "./draft";

/** A request to the service. */
export type MoveRequest =
  | { readonly action: "shield"; readonly body: BodyInput<typeof shield> }
  | { readonly action: "transfer"; readonly body: BodyInput<typeof privateTransfer> }
  | { readonly action: "unshield"; readonly body: BodyInput<typeof unshield> };

export interface CreateMove {
  readonly create: (request: MoveRequest) => Promise<void>;
  readonly pending: boolean;
  readonly error: unknown;
  /** Deposits in the set, where the service asks for a second confirmation; null where it does not. */
  readonly smallSet: number | null;
  readonly refuseSmallSet: () => void;
  /** Forgets an error, when the form is changed. */
  readonly reset: () => void;
}

const sizeOf = (error: unknown): number | null => {
  if (codeOf(error) !== "small_anonymity_set") return null;
  const size = extraOf(error, "anonymitySet");
  return typeof size === "number" ? size : 0;
};

/** Creates the operation, and goes to its page, where a code approves it. */
export const useCreateMove = (): CreateMove => {
  const router = useRouter();
  const takeOver = useTakeOver();
  const shields = useSentOnce(shield);
  const transfers = useSentOnce(privateTransfer);
  const unshields = useSentOnce(unshield);
  const [error, setError] = useState<unknown>(null);
  const [smallSet, setSmallSet] = useState<number | null>(null);
  const send = (request: MoveRequest): Promise<PrivateTransfer> => {
    switch (request.action) {
      case "shield":
        return shields.send({ body: request.body });
      case "transfer":
        return transfers.send({ body: request.body });
      case "unshield":
        return unshields.send({ body: request.body });
    }
  };
  const create = async (request: MoveRequest): Promise<void> => {
    setError(null);
    setSmallSet(null);
    try {
      const transfer = await send(request);
      dropDraft(request.action);
      takeOver(transfer);
      router.push(`${pathOfTransfer(transfer)}?approve=true`);
    } catch (failure) {
      const size = sizeOf(failure);
      if (size === null) setError(failure);
      else setSmallSet(size);
    }
  };
  return {
    create,
    pending: [shields, transfers, unshields].some(({ mutation }) => mutation.isPending),
    error,
    smallSet,
    refuseSmallSet: () => setSmallSet(null),
    reset: () => setError(null),
  };
};
