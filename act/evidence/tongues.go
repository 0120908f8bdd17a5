package evidence

import "github.com/hearken-dev/hearken"

// A tongue is what a language has to ask for things and to take them back.
// The tables are small on purpose: what stands in none of them is asked about,
// which costs a question. In a phrase "…" stands for a few words and "*" for
// any ending; scripts without spaces are looked for anywhere in a word.
type tongue struct {
	asks map[string][]string // by tool
	// tells are the words after which a verb tells of something and asks for
	// nothing, in whatever language: "I write", "to write", "the mail". It asks
	// after all behind one of the polite words: "could you write".
	tells  string
	polite []string
	// back begins a sentence that takes back the one before, as negations do.
	back string
	// again says that something is to be done more than once.
	again string
	// mine are the words behind a verb that ask for something to be told here.
	mine string

	// opens is what begins the text that is to be told.
	opens string

	not   string // negations
	doubt string // conditions and limits
	no    string // answers a question if it stands alone, and negates nothing
}

var tongues = []tongue{
	{ // English
		asks: map[string][]string{
			hearken.MessageSend:    {"ask", "send", "tell", "text", "write", "mail", "email", "e mail", "message", "sms", "let … know", "reply", "forward", "inform", "notify"},
			hearken.CalendarCreate: {"my calendar", "the calendar", "schedule", "make … appointment", "book", "put", "add", "plan", "set up", "arrange", "block", "let us meet"},
			hearken.ReminderCreate: {"remind", "do not forget", "do not let me forget", "i will", "i must", "i have to", "i need to", "make sure", "remember to", "note to self"},
		},
		mine:   "me us",
		tells:  "i you he she it we they to who did does should must might may can could the a an this my your his her our their",
		polite: []string{"please", "would you", "could you", "can you", "will you", "you to", "would like", "would love", "if you can", "if possible"},
		back:   "stop wait cancel forget kidding joking",
		again:  "every each daily weekly monthly yearly always weekdays",
		opens:  "that whether saying",
		not:    "not never no nobody nothing none neither nor cannot without hardly dont cant wont didnt doesnt isnt wasnt wouldnt",
		doubt:  "if unless would suppose imagine pretend only except until almost",
		no:     "no",
	},
	{ // German
		asks: map[string][]string{
			hearken.MessageSend: {"frag", "frage", "fragen sie", "schreib", "schreibe", "schreiben sie", "sag", "sage", "sagen sie", "schick", "schicke", "schicken sie", "sende", "senden sie",
				"maile", "teil … mit", "teile … mit", "gib … bescheid", "richte … aus", "informiere", "antworte",
				"kannst du … schreiben", "kannst du … sagen", "kannst du … schicken", "könntest du … schreiben", "könntest du … sagen", "könntest du … schicken"},
			hearken.CalendarCreate: {"trag", "trage", "tragen sie", "termin*", "kalender", "plane", "buche", "notiere", "setz", "setze"},
			hearken.ReminderCreate: {"erinnere", "erinner", "erinnern sie", "vergiss nicht", "nicht vergessen", "denk daran", "denk dran", "ich werde", "ich muss"},
		},
		mine:   "mir uns",
		tells:  "ich er sie es wir man soll sollte der die das ein eine",
		polite: []string{"bitte", "kannst du", "könntest du", "würdest du", "können sie", "könnten sie", "würden sie"},
		back:   "halt stopp stop warte quatsch scherz",
		again:  "jeden jede jedes täglich wöchentlich monatlich jährlich immer",
		opens:  "dass ob",
		not:    "nicht nie niemals kein keine keinen keinem keiner keines nichts niemand ohne weder nein",
		doubt:  "wenn falls würde hätte sofern angenommen nur außer erst fast",
		no:     "nein",
	},
	{ // Portuguese
		asks: map[string][]string{
			hearken.MessageSend:    {"pergunta", "pergunte", "manda", "mande", "envia", "envie", "diz", "diga", "avisa", "avise", "escreve", "escreva", "informa", "informe", "responde", "responda"},
			hearken.CalendarCreate: {"agenda", "agende", "marca", "marque", "calendário", "coloca", "coloque", "põe", "ponha", "adiciona", "adicione", "reserva", "reserve"},
			hearken.ReminderCreate: {"lembra", "lembre", "lembrete", "não esqueça", "não esquece", "eu vou", "vou", "tenho que", "preciso"},
		},
		tells:  "eu ele ela nós eles elas o a um uma",
		polite: []string{"por favor", "pode", "podes", "poderia"},
		back:   "pare espera espere",
		again:  "cada todo toda todos todas sempre diariamente semanalmente mensalmente",
		opens:  "que dizendo",
		not:    "não nao nunca jamais nem nada ninguém nenhum nenhuma sem",
		doubt:  "se caso seria talvez só somente apenas exceto até quase",
		no:     "não nao",
	},
	{ // Spanish
		asks: map[string][]string{
			hearken.MessageSend: {"pregunta", "pregúntale", "preguntale", "dile", "diles", "dígale", "digale", "manda", "mándale", "mandale", "mande", "envía", "envia", "envíale", "enviale", "envíalo", "envialo", "envíe",
				"escribe", "escríbele", "escribele", "escriba", "avisa", "avísale", "avisale", "informa", "responde"},
			hearken.CalendarCreate: {"agenda", "apunta", "pon", "añade", "programa", "reserva", "calendario", "cita", "crea"},
			hearken.ReminderCreate: {"recuérdame", "recuerdame", "recuérdeme", "recuerda", "no olvides", "no te olvides", "voy a", "tengo que", "debo"},
		},
		tells:  "yo él ella nosotros ellos ellas el la un una",
		polite: []string{"por favor", "puedes", "podrías", "puede"},
		back:   "espera espere alto",
		again:  "cada todos todas siempre diario diariamente semanalmente mensualmente",
		opens:  "que diciendo",
		not:    "no nunca jamás jamas ni nada nadie ningún ninguno ninguna sin",
		doubt:  "si sería quizás solo sólo excepto hasta casi",
		no:     "no",
	},
	{ // Swedish
		asks: map[string][]string{
			hearken.MessageSend:    {"fråga", "skicka", "säg", "skriv", "mejla", "maila", "smsa", "sms a", "messa", "meddela", "hälsa", "svara"},
			hearken.CalendarCreate: {"kalender", "kalendern", "boka", "lägg", "planera", "skriv in", "sätt upp"},
			hearken.ReminderCreate: {"påminn mig om", "påminn", "påminnelse", "glöm inte", "kom ihåg", "jag ska", "jag måste"},
		},
		tells:  "jag du han hon vi de ni att en ett",
		polite: []string{"snälla", "kan du", "skulle du kunna"},
		back:   "stopp stop vänta",
		again:  "varje alltid dagligen veckovis",
		opens:  "att",
		not:    "inte aldrig ej ingen inget inga utan nej",
		doubt:  "om ifall skulle kanske bara endast utom nästan",
		no:     "nej",
	},
	{ // French
		asks: map[string][]string{
			hearken.MessageSend:    {"demande", "demandez", "dis", "dites", "envoie", "envoyez", "écris", "ecris", "écrivez", "préviens", "prévenez", "transmets", "réponds", "informe", "informez", "fais … savoir"},
			hearken.CalendarCreate: {"agenda", "calendrier", "ajoute", "ajoutez", "planifie", "planifiez", "mets", "mettez", "réserve", "réservez", "prévois", "rendez vous"},
			hearken.ReminderCreate: {"rappelle", "rappelez", "n oublie pas", "n oubliez pas", "je vais", "je dois"},
		},
		mine:   "moi nous",
		tells:  "je j tu il elle on nous vous ils elles le la un une",
		polite: []string{"peux tu", "pouvez vous", "pourrais tu", "pourriez vous", "s il te plaît", "s il vous plaît"},
		back:   "arrête attends stop",
		again:  "chaque tous toutes toujours quotidien",
		opens:  "que",
		not:    "pas jamais rien personne aucun aucune sans ni non",
		doubt:  "si s serait peut seulement sauf presque",
		no:     "non",
	},
	{ // Japanese
		asks: map[string][]string{
			hearken.MessageSend:    {"聞いて", "尋ねて", "送って", "送信して", "伝えて", "知らせて", "メールして", "連絡して", "書いて", "言って", "返信して"},
			hearken.CalendarCreate: {"予定", "カレンダー", "スケジュール", "予約", "入れて", "登録して", "追加して"},
			hearken.ReminderCreate: {"リマインド", "リマインダー", "思い出させて", "忘れないで", "忘れないように", "忘れずに", "通知して"},
		},
		polite: []string{"ください", "くれ", "もらえ"},
		back:   "いや 待って やっぱり",
		again:  "毎",
		not:    "ない なかっ ません なく",
		doubt:  "もし なら たら れば だけ 以外",
	},
}

// courtesies may be added to what was said.
const courtesies = "hi hello hey dear thanks thank regards hallo liebe lieber danke gruß grüße hola gracias saludos olá ola oi obrigado obrigada abraço hej tack hälsningar bonjour salut merci cordialement"
