import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ActionPage } from "@/components/features/private/actions/action-page";

export const metadata: Metadata = { title: "Private transfer" };

const Page = (): ReactNode => <ActionPage key="transfer" action="transfer" />;

export default Page;
