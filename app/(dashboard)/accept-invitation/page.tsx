import type { Metadata } from "next";
import type { ReactNode } from "react";
import { AcceptInvitation } from "@/components/features/members/invitation";

export const metadata: Metadata = { title: "Invitation" };

const Page = (): ReactNode => <AcceptInvitation />;

export default Page;
