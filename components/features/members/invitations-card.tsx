"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Ban, CircleCheck, ClockAlert, Mail } from "lucide-react";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation, useApiQuery } from "@/components/features/session/use-api";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { describeError } from "@/components/ui/describe-error";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { listInvitations, withdrawInvitation } from "@/lib/api-client/calls.gen";
import { roleName, type Invitation } from "./roles";

const STATUS = {
  open: { word: "Waiting", tone: "info", icon: Mail },
  accepted: { word: "Accepted", tone: "success", icon: CircleCheck },
  withdrawn: { word: "Withdrawn", tone: "neutral", icon: Ban },
  expired: { word: "Expired", tone: "warning", icon: ClockAlert },
} as const;

const columnsOf = (onWithdraw: (invitation: Invitation) => void): readonly Column<Invitation>[] => [
  {
    id: "email",
    header: "E-mail address",
    phone: "title",
    cell: ({ email }) => <span className="break-all">{email}</span>,
  },
  { id: "role", header: "Role", cell: ({ role }) => roleName(role) },
  {
    id: "status",
    header: "Status",
    cell: ({ status }) => (
      <Badge tone={STATUS[status].tone} icon={STATUS[status].icon}>
        {STATUS[status].word}
      </Badge>
    ),
  },
  {
    id: "expires",
    header: "Expires",
    cell: ({ status, expiresAt }) => (status === "open" ? <Time value={expiresAt} /> : "–"),
  },
  {
    id: "actions",
    header: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (invitation) =>
      invitation.status === "open" ? (
        <Button
          size="sm"
          variant="ghost"
          aria-label={`Withdraw the invitation of ${invitation.email}`}
          onClick={() => onWithdraw(invitation)}
        >
          Withdraw
        </Button>
      ) : null,
  },
];

/** Invitations of the project; for those who manage members. */
export const InvitationsCard = (): ReactNode => {
  const { data, error, isPending, refetch } = useApiQuery(listInvitations, {});
  const withdraw = useApiMutation(withdrawInvitation);
  const queryClient = useQueryClient();
  const onWithdraw = async ({ id, email }: Invitation): Promise<void> => {
    try {
      await withdraw.mutateAsync({ params: { id } });
      toast.success(`The invitation of ${email} is withdrawn.`);
    } catch (failure) {
      toast.error(describeError(failure).message);
    }
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listInvitations) });
  };
  if (data?.data.length === 0) return null;
  return (
    <Card title="Invitations" flush>
      {isPending ? (
        <LoadingRows what="invitations" rows={2} />
      ) : data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Table
          caption="Invitations"
          columns={columnsOf((invitation) => void onWithdraw(invitation))}
          rows={data.data}
          rowKey={({ id }) => id}
        />
      )}
    </Card>
  );
};
