import type { Metadata } from "next";
import type { ReactNode } from "react";
import { OpenInvitation } from "@/components/features/members/invitation";

export const metadata: Metadata = { title: "Invitation", referrer: "no-referrer" };

const Page = (): ReactNode => <OpenInvitation />;

export default Page;
