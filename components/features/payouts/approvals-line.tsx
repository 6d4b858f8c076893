"use client";

import { CirclePause } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { useApiQuery } from "@/components/features/session/use-api";
import { listPayouts } from "@/lib/contracts/payouts";
import { awaitsApproval } from "./payout";

const COUNTED_MAX = 100;

/** How many payouts wait for a person; nothing where none does. */
export const PayoutApprovalsLine = (): ReactNode => {
  const { data } = useApiQuery(listPayouts, { query: { status: "pending", limit: COUNTED_MAX } }, { live: true });
  const count = data?.data.filter(awaitsApproval).length ?? 0;
  if (count === 0) return null;
  return (
    <li>
      <Link
        href="/payouts?status=pending"
        className="flex h-9 items-center gap-2 bg-warning-tint px-4 font-medium text-warning hover:underline touch-target"
      >
        <CirclePause className="size-4" aria-hidden />
        <span className="flex-1">Payouts waiting for approval</span>
        <span className="num">{data?.nextCursor === null ? count : `${count}+`}</span>
      </Link>
    </li>
  );
};
