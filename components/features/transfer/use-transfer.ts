"use client";

import { useEffect, useState } from "react";
import { codeOf, detailsOf } from "@/components/features/money-flow/api-error";
import { useApiMutation } from "@/components/features/session/use-api";
import { useSettled } from "@/components/ui/use-settled";
import type { ResponseOf } from "@/lib/contracts/contract";
import { createTransfer } from "@/lib/api-client/calls.gen";
import { fieldErrorsOf, type FieldErrors, type TransferBody } from "./form-model";

export type TransferRecord = ResponseOf<typeof createTransfer>;

export interface TransferView {
  /** The newest that was made; null before the first. */
  readonly transfer: TransferRecord | null;
  /** It does not answer what is typed now. */
  readonly outdated: boolean;
  readonly expired: boolean;
  readonly loading: boolean;
  readonly error: unknown;
  readonly fieldErrors: FieldErrors;
  readonly make: () => void;
  readonly onExpire: () => void;
}

/**
 * The transfer of what is typed: made when the typing settles, as the quote of a swap is. It holds its price for a while and moves nothing
 * until it is executed.
 */
export const useTransfer = (body: TransferBody | null): TransferView => {
  const creation = useApiMutation(createTransfer);
  const [made, setMade] = useState<{ readonly key: string; readonly transfer: TransferRecord } | null>(null);
  const [askedKey, setAskedKey] = useState<string | null>(null);
  const [expiredId, setExpiredId] = useState<string | null>(null);
  const key = body === null ? null : JSON.stringify(body);
  const [settled] = useSettled(key);
  const make = (): void => {
    if (body === null || key === null) return;
    setAskedKey(key);
    creation.mutate({ body }, { onSuccess: (transfer) => setMade({ key, transfer }) });
  };
  useEffect(() => {
    if (settled !== null && settled === key && askedKey !== settled) make();
  }, [settled, key, askedKey]);
  // An error of another text does not apply to this one.
  const error = askedKey === key ? creation.error : null;
  return {
    transfer: made?.transfer ?? null,
    outdated: made !== null && made.key !== key,
    expired: made !== null && made.transfer.transferId === expiredId,
    loading: creation.isPending || (key !== null && key !== askedKey),
    error,
    fieldErrors: fieldErrorsOf(detailsOf(error), codeOf(error)),
    make,
    onExpire: () => {
      setExpiredId(made?.transfer.transferId ?? null);
      make();
    },
  };
};
