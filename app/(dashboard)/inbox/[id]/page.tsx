import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { DecisionPage } from "@/components/features/inbox/decision-page";

export const metadata: Metadata = { title: "Approval" };

export default recordPage((id) => <DecisionPage key={id} id={id} />);
