import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ActionPage } from "@/components/features/private/actions/action-page";

export const metadata: Metadata = { title: "Shield" };

const Page = (): ReactNode => <ActionPage key="shield" action="shield" />;

export default Page;
