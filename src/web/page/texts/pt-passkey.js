/** Portuguese texts about linking an account that has a passkey. */
/** @type {typeof import('./en-passkey.js').ofPasskeys} */
export const ofPasskeys = {
  passkeyTitle: 'Esta conta pede a sua chave de acesso',
  passkeyLead:
    'O dono assina no navegador que tem a chave de acesso, ou em um que possa pedi-la ao telefone. A chave em si nunca chega aqui.',
  passkeyNext: 'O telefone já fez a parte dele. O próximo passo é em um navegador.',
  passkeyLeft: 'Restam {left} para assinar.',
  passkeyInstall: 'Uma vez: instale a extensão nesse navegador.',
  passkeyInstallHow:
    'Descompacte o arquivo. Abra chrome://extensions, ligue o modo do desenvolvedor, clique em “Carregar sem compactação” e escolha a pasta. Funciona no Chrome, no Edge e no Brave.',
  passkeyDownload: 'Baixar a extensão',
  passkeyMake: 'Gere um código de uso único. Ele vale uma vez, por dez minutos, e não dá acesso a mais nada da sessão.',
  passkeyMakeCode: 'Gerar um código',
  passkeyCodeAgain: 'Gerar outro código',
  passkeyCodeOver: 'O código expirou.',
  passkeyCodeLeft: 'Restam {left}. Também serve para quem não tem acesso a esta página: copie o link.',
  passkeyOpenWeb: 'Abrir o WhatsApp Web',
  passkeyCopyLink: 'Copiar o link',
  passkeyCopied: 'Copiado.',
  passkeySign:
    'Um painel se abre no WhatsApp Web. Clique nele em “Sign with the passkey”. Em outro lugar: clique no ícone da extensão e cole o link.',
  passkeyByHand: 'Sem a extensão',
  passkeyHandOpen: 'Abra o WhatsApp Web no navegador que tem a chave de acesso, e o console dele (F12).',
  passkeyHandRun: 'Execute isto ali, e copie o texto que aparece.',
  passkeyCopySnippet: 'Copiar o trecho',
  passkeyPaste: 'O texto que apareceu',
  passkeyHandIn: 'Entregar',
  passkeyNoJson: 'Este não é o texto que o trecho mostra: ele começa com { e termina com }.',
  passkeyPhone: 'Agora o telefone continua. Deixe o WhatsApp aberto nele.',
  passkeyCompare: 'Compare este código com o do telefone',
  passkeyCompareLead: 'Se o telefone mostrar outro código, cancele: outra pessoa pode estar vinculando.',
  passkeyConfirm: 'O telefone mostra o mesmo código',
  passkeyCancel: 'Cancelar o vínculo',
  whyPasskey: 'Espera a chave de acesso do dono',
};
