import { WAITS_FOR_APPROVAL } from "@/lib/core/approval-advice";
import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  getPayoutSchedule,
  listPayoutScheduleItems,
  listPayoutSchedules,
} from "@/lib/contracts/payout-schedules";
import { formatAmount } from "@/lib/core/money";
import type { EvmAddress } from "@/lib/core/evm";
import { tokenNamed } from "../wallets/wallet-payout";
import type { ScheduleItems, ScheduleView } from "./service";
import { timingOf } from "./service";
import { toTokenRecord } from "@/lib/core/token";

type Body = ResponseOf<typeof getPayoutSchedule>;

const nextActionOf = ({ schedule, runs }: ScheduleView): string => {
  if (schedule.status === "awaiting_approval" && schedule.suspendedAt !== null)
    return "Suspended: the session that made it was ended. Restore it with a code, a passkey or a signature if it is honest, or cancel it. Nothing is paid before.";
  const [last] = runs;
  const gone =
    last === undefined || last.status === "started"
      ? ""
      : ` The run of ${last.scheduledAt.toISOString()} was ${last.status}; pay it by a payout of its own if it is still to be paid.`;
  switch (schedule.status) {
    case "awaiting_approval":
      return `${WAITS_FOR_APPROVAL} Nothing is paid before.`;
    case "active":
      return `Nothing to do: it runs by itself. Have the money in the treasury by then.${gone}`;
    case "ended":
      return `Nothing to do: it had its last run.${gone}`;
    case "cancelled":
      return `Nothing to do: it does not run any more.${gone}`;
  }
};

export const toSchedule = (view: ScheduleView): Body => {
  const { schedule, runs } = view;
  return {
    id: schedule.id,
    status: schedule.status,
    chainId: schedule.chainId,
    fromWalletId: schedule.walletId,
    rows: schedule.rows,
    totals: schedule.totals.map(({ token, amountBase, rows }) => ({
      token: toTokenRecord(token),
      amount: formatAmount(amountBase, token.decimals),
      rows,
    })),
    warnings: [...schedule.warnings],
    reference: schedule.reference,
    startsAt: schedule.startsAt.toISOString(),
    every: timingOf(schedule).every,
    timeZone: schedule.timeZone,
    endsAt: schedule.endsAt?.toISOString() ?? null,
    nextRunAt: schedule.nextRunAt?.toISOString() ?? null,
    runs: runs.map((run) => ({
      scheduledAt: run.scheduledAt.toISOString(),
      status: run.status,
      payoutId: run.payoutId,
      failure: run.failure,
    })),
    nextAction: nextActionOf(view),
    suspendedAt: schedule.suspendedAt?.toISOString() ?? null,
    createdBy: schedule.createdBy,
    createdAt: schedule.createdAt.toISOString(),
    updatedAt: schedule.updatedAt.toISOString(),
  };
};

export const toSchedules = (page: {
  data: readonly ScheduleView[];
  nextCursor: string | null;
}): ResponseOf<typeof listPayoutSchedules> => ({
  data: page.data.map(toSchedule),
  nextCursor: page.nextCursor,
});

export const toScheduleItems = ({
  schedule,
  first,
  transfers,
  nextCursor,
}: ScheduleItems): ResponseOf<typeof listPayoutScheduleItems> => ({
  data: transfers.map(({ address, amount, token, reference, note }, at) => ({
    index: first + at,
    address: address as EvmAddress,
    amount,
    token: toTokenRecord(tokenNamed(schedule.totals, token.toLowerCase())),
    reference: reference ?? null,
    note: note ?? null,
  })),
  nextCursor,
});
