import { BadgeCheck, CircleDashed } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "@/components/ui/badge";
import type { Contact } from "./use-contacts";

/** Whether the contact may be paid where a policy asks for approved contacts. */
export const ContactState = ({ contact: { state } }: { readonly contact: Contact }): ReactNode =>
  state === "approved" ? (
    <Badge tone="success" icon={BadgeCheck} title="May be paid where a policy asks for approved contacts">
      Approved
    </Badge>
  ) : (
    <Badge icon={CircleDashed} title="Not paid where a policy asks for approved contacts">
      Proposed
    </Badge>
  );
